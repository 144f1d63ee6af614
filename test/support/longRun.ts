import { appendFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { toToolResult } from '../../src/protocol/content/tools.ts';
import type { RunEventBody, StoredEvent } from '../../src/protocol/run/events.ts';
import { journalHeader, journalLineOf } from '../../src/runs/journal.ts';

/** Questions, reads, and answers with code, as a day of work has them: four messages each. */
export function longConversation(messages: number): RunEventBody[] {
  const bodies: RunEventBody[] = [
    { type: 'run-start', workflowId: 'chat', agentId: 'default', model: 'bench' },
    { type: 'title', title: `A run of ${messages} messages` },
  ];
  for (let at = 0; at < messages; at += 4) {
    const call = {
      id: `read-${at}`,
      name: 'fs.read',
      arguments: { path: `src/part-${at}.ts`, startLine: 1, endLine: 40 },
    };
    const found = {
      ok: true as const,
      data: { path: `src/part-${at}.ts`, lines: 40, content: 'const a = 1;\n'.repeat(40) },
    };
    bodies.push(
      {
        type: 'message',
        message: { role: 'user', content: `What does part ${at} do, and who calls it? `.repeat(1 + (at % 3)) },
      },
      { type: 'message', message: { role: 'assistant', content: 'I will look at it first.', toolCalls: [call] } },
      { type: 'tool-start', toolCallId: call.id, name: call.name },
      { type: 'tool-end', toolCallId: call.id, name: call.name, ok: true, ms: 12 },
      { type: 'message', message: { role: 'tool', content: '', toolResults: [toToolResult(call.id, found)] } },
      { type: 'message', message: { role: 'assistant', content: answer(at) } },
    );
  }
  return [...bodies, { type: 'phase', phase: 'WaitingUser' }];
}

const answer = (at: number): string =>
  `## Part ${at}\n\nIt reads **rows** and gives them on, see [the part](src/part-${at}.ts:12):\n\n` +
  `\`\`\`ts\nexport function part${at}(rows: string[]): string[] {\n  return rows.map((row) => row.trim());\n}\n\`\`\`\n\n- one\n- two\n`;

/** Writes the journal of a run into a folder of runs, its last event now; gives its path. */
export function writeJournal(runs: string, id: string, bodies: readonly RunEventBody[]): string {
  const file = path.join(runs, id, 'journal.jsonl');
  mkdirSync(path.dirname(file), { recursive: true });
  const first = Date.now() - bodies.length;
  const lines = bodies.map((body, at) =>
    journalLineOf({ runId: id, seq: at + 1, at: first + at, ...body } as StoredEvent, at),
  );
  appendFileSync(file, Buffer.concat([Buffer.from(journalHeader), ...lines]));
  return file;
}
