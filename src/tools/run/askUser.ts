import { answerOutcome } from '../../protocol/content/askTool.ts';
import { WithImages } from '../core/imageFiles.ts';
import { readTool, type Tool } from '../core/tool.ts';
import { askUserDefinition } from '../definitions/userTools.ts';

/**
 * `ask.person`: up to four user questions with suggested answers in the panel. The answer is text and allows nothing, so no dialog is
 * needed. Data: `{ answers?: [{ question, chosen, words? }], said?, named? }`; `said` is a reply to all questions.
 */
export const askUserTool: Tool = {
  ...readTool(askUserDefinition, async ({ questions }, { ask }) => {
    const { data, attachments } = answerOutcome(questions, await ask(questions));
    return attachments ? new WithImages(data, attachments) : data;
  }),
  ofRun: true,
  waits: true,
};
