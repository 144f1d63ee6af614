import { answerOutcome } from '../../protocol/content/askTool.ts';
import { WithImages } from '../core/imageFiles.ts';
import { readTool, type Tool } from '../core/tool.ts';
import { askPersonDefinition } from '../definitions/userTools.ts';

/**
 * `ask.person`: up to four questions that the panel shows with their answers. Nothing is allowed by it, so that it needs no dialog:
 * what comes back is words. Data: `{ answers?: [{ question, chosen, words? }], said?, named? }`; `said` are words to all of the questions.
 */
export const askPersonTool: Tool = {
  ...readTool(askPersonDefinition, async ({ questions }, { ask }) => {
    const { data, attachments } = answerOutcome(questions, await ask(questions));
    return attachments ? new WithImages(data, attachments) : data;
  }),
  ofRun: true,
  waits: true,
};
