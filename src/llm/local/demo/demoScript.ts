import { type DemoAutomatonScript, userMessageMarker } from './automaton.ts';

const sample = 'src/greet.js';
const read = { name: 'fs_read', args: { path: sample, offset: null, limit: null } };
const edit = {
  name: 'fs_edit',
  args: {
    path: sample,
    cell: null,
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: text of the sample file
    edits: [{ oldText: 'return `Hello, ${name}!`;', newText: 'return `Hello, ${name}! Welcome aboard.`;' }],
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: text of the sample file
  },
};

/**
 * Script of the demo model for the sample workspace, independent of the user's text: read a file, propose an edit, close with a sentence. A
 * failed result is newer than its call and selects another scenario.
 */
export const demoScript: DemoAutomatonScript = {
  name: 'Towpath demo',
  scenarios: [
    {
      on: userMessageMarker,
      steps: [
        {
          text: `Hello! I am Towpath's demo model: a demonstration with a script for weights, not an assistant. Whatever you write, I play the same small story on the sample workspace, and it begins with reading \`${sample}\`.`,
          calls: [read],
        },
        {
          text: 'The function greets by name. I propose to make the greeting a little warmer. Towpath asks you first: nothing changes unless you allow it.',
          calls: [edit],
        },
        {
          text: 'Done: the greeting is warmer now, and the card above shows the change. That was the whole script. For real work, pick a real model.',
        },
      ],
    },
    {
      on: '"ok": false, "error": {"code": "TOOL_DENIED"',
      steps: [
        {
          text: 'You said no, so the file stays as it was. That is all this script can do; write anything to see it once more.',
        },
      ],
    },
    {
      on: '"ok": false, "error": {"code": "ENOENT"',
      steps: [
        {
          text: `There is no \`${sample}\` here, and this script knows nothing else. Open the sample workspace to see the story, or pick a real model for real work.`,
        },
      ],
    },
    {
      on: '"ok": false',
      steps: [
        {
          text: 'That did not work: the card above says why. Perhaps the greeting has been changed already. Undo that, and write anything to see the story again.',
        },
      ],
    },
  ],
};
