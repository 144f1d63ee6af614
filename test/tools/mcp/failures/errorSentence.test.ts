import assert from 'node:assert/strict';
import { errorSentence } from '../../../../src/tools/mcp/failures/errorSentence.ts';

const cases: [line: string, sentence: string][] = [
  ['Error: Could not locate the bindings file. Tried:', 'Could not locate the bindings file'],
  ['Fatal error: Error: Could not locate the bindings file. Tried:', 'Could not locate the bindings file'],
  ['ERROR:mcp_server_git.server:/w is not a valid Git repository', '/w is not a valid Git repository'],
  ['[cause]: x', '[cause]: x'],
  ['TypeError: Cannot read properties of undefined', 'Cannot read properties of undefined'],
  ['ModuleNotFoundError: No module named \'mcp\'', 'No module named \'mcp\''],
  ['Error [ERR_MODULE_NOT_FOUND]: Cannot find package \'zod\'', 'Cannot find package \'zod\''],
  ['2026-01-02T03:04:05.678Z ERROR: missing API_KEY', 'Missing API_KEY'],
  ['2026-01-02 03:04:05,678 - fatal: not a git repository', 'Not a git repository'],
  ['npm error 404 Not Found - GET https://registry.example/x', '404 Not Found - GET https://registry.example/x'],
  ['sqlite3.OperationalError: unable to open database file', 'Unable to open database file'],
  ['Usage: server <folder>', 'Usage: server <folder>'],
  ['Error:', 'Error'],
]; // biome-ignore format: a table

describe('the reason in the output of a server', () => {
  for (const [line, sentence] of cases) it(`${line} → ${sentence}`, () => assert.equal(errorSentence(line), sentence));
});
