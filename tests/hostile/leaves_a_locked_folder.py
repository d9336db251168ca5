"""Takes away its own rights on folders it made in its home."""

from pathlib import Path

from _wire import greet, serve

folder = Path.home() / "a" / "b"
folder.mkdir(parents=True)
(folder / "file").write_text("x")
folder.chmod(0)
folder.parent.chmod(0)
(Path.home() / "link").symlink_to("/")
greet()
serve()
