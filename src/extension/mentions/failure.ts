import type * as vscode from 'vscode';
import { maxMentionText } from '../../protocol/content/mentionText.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';

/** Argument of commands in `testing/message/context`. */
export interface TestFailure {
  test: Pick<vscode.TestItem, 'id' | 'label' | 'uri' | 'range'>;
  message: Pick<vscode.TestMessage, 'message' | 'expectedOutput' | 'actualOutput' | 'location' | 'stackTrace'>;
}

export const isTestFailure = (value: unknown): value is TestFailure =>
  typeof value === 'object' &&
  value !== null &&
  'test' in value &&
  'message' in value &&
  !!value.test &&
  !!value.message;

const maxCalls = 20;

export function testFailureText(
  { test, message }: TestFailure,
  shown: (uri: vscode.Uri) => string,
): { name: string; text: string } {
  const text = typeof message.message === 'string' ? message.message : (message.message?.value ?? '');
  const calls = (message.stackTrace ?? []).slice(0, maxCalls).map(({ label, uri, position }) => {
    const where = uri ? ` (${shown(uri)}${position ? `:${position.line + 1}` : ''})` : '';
    return `  at ${label}${where}`;
  });
  const parts = [
    text.trim(),
    ...(message.expectedOutput === undefined ? [] : [`Expected:\n${message.expectedOutput}`]),
    ...(message.actualOutput === undefined ? [] : [`Actual:\n${message.actualOutput}`]),
    ...(calls.length > 0 ? [calls.join('\n')] : []),
  ];
  return {
    name: truncateWithEllipsis(escapeInvisibleInLine(test.label), 100) || 'a test',
    text: truncateWithEllipsis(parts.join('\n\n'), maxMentionText),
  };
}
