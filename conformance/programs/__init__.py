"""Random programs: operations as data, a strategy that makes lists of them, and the stage that carries them out."""

from __future__ import annotations

from conformance.programs.operations import AnyOperation as AnyOperation
from conformance.programs.operations import Program as Program
from conformance.programs.operations import decode as decode
from conformance.programs.operations import encode as encode
from conformance.programs.operations import from_json as from_json
from conformance.programs.operations import to_json as to_json
from conformance.programs.run import Connection as Connection
from conformance.programs.run import Ran as Ran
from conformance.programs.run import run_program as run_program
from conformance.programs.strategy import programs as programs
