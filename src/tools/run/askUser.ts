import { userAnswerOutcome } from '../../protocol/content/askTool.ts';
import { ResultWithImages } from '../core/imageFiles.ts';
import { createReadOnlyTool, type Tool } from '../core/tool.ts';
import { askUserDefinition } from '../definitions/userTools.ts';

/**
 * `ask.person`: up to four user questions with suggested answers in the panel. The answer is text and allows nothing, so no dialog is
 * needed. Data: `{ answers?: [{ question, chosen, words? }], said?, named? }`; `said` is a reply to all questions.
 */
export const askUserTool: Tool = {
  ...createReadOnlyTool(askUserDefinition, async ({ questions }, { ask }) => {
    const { data, attachments } = userAnswerOutcome(questions, await ask(questions));
    return attachments ? new ResultWithImages(data, attachments) : data;
  }),
  ofRun: true,
  waits: true,
};
