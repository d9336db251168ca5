"""The reference host: session log, tool registry and scopes, waterfalls, loop, subprocess, attachments."""
