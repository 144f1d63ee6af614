import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Three nodes: a question, a decision that may go back, and an end. Relative path → text. */
export const sampleFiles: Record<string, string> = {
  'bmad.json': JSON.stringify({
    name: 'letters',
    title: 'Letters',
    workflows: [{ id: 'write', title: 'Write a letter', graph: 'write/workflow.graph.json', state: 'write/state.md' }],
  }),
  'agents.json': JSON.stringify({
    agents: [
      {
        id: 'writer',
        name: 'Wanda',
        title: 'Writer',
        persona: { role: 'Writes letters', principles: ['Be kind', 'Be short'] },
        menu: [
          { trigger: 'write', title: 'Write a letter', workflow: 'write' },
          { trigger: 'tip', title: 'Give a writing tip', prompt: 'Give me one tip about letters.' },
        ],
      },
      { id: 'judge', name: 'Jim', persona: 'You judge letters.', tools: { deny: ['shell.run', 'fs.delete'] } },
    ],
  }),
  'write/workflow.graph.json': JSON.stringify({
    entryNodeId: 'ask',
    nodes: [
      { id: 'ask', type: 'step', title: 'Ask for the name', file: 'steps/ask.md', outputs: { letter: 'letter.md' } },
      { id: 'judge', type: 'decision', file: 'steps/judge.md', agentId: 'judge' },
      { id: 'done', type: 'end', outputs: { copy: '@project/letter.md' } },
    ],
    edges: [
      { from: 'ask', to: 'judge' },
      { from: 'judge', to: 'ask', label: 'not good' },
      { from: 'judge', to: 'done', label: 'good' },
    ],
  }),
  'write/state.md': '---\nvariables:\n  tone: warm\n---\n\n# The letter\n',
  'write/steps/ask.md': 'Ask whom the letter is for. Then write it.\n',
  'write/steps/judge.md': 'Judge the letter.\n',
};

/** Writes a package and gives its folder. `changes`: other texts; undefined leaves a file out. */
export function writePackage(folder: string, changes: Record<string, string | undefined> = {}): string {
  for (const [file, text] of Object.entries({ ...sampleFiles, ...changes })) {
    if (text === undefined) continue;
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
  return folder;
}
