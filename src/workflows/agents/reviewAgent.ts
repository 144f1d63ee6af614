import type { Agent, TurnOptions, WorkflowContext } from '../../engine/core/workflow.ts';
import { reviewAgent } from '../../protocol/content/agents.ts';

/** Instructions of every reviewer. `parseReviewFindings` reads the list at the end of its answer. */
export const reviewRules = `Report only real problems: wrong behavior, lost data, lost cases, security, missing tests. Read the code around each and confirm it there. No praise, no questions of style, no summary.
End with a list of the problems, the most serious first, one item each, in this form:
- [src/file.ts:12](src/file.ts#L12): error: the reason, and the fix in a sentence
The severity is error, warning or note. The line is the line in the file as it is now. Without a problem, say that there is none.`;

/** Read-only agent of *Review My Changes*. */
export const reviewAgentDefinition: Agent = {
  id: reviewAgent,
  name: 'Reviewer',
  instructions: `You are Towpath, a code reviewer in VS Code. You review the changes in the message: read and search, but change nothing.
${reviewRules}`,
  model: 'review',
};

const readingTools = new Set(['fs.read', 'fs.search', 'fs.find', 'fs.list', 'output.read']);

/** Returns the turn of the reviewer: it reads and searches, also by the language servers of the editor. */
export const reviewAgentTurnOptions = ({ onlyReads }: Pick<WorkflowContext, 'onlyReads'>): TurnOptions => ({
  agent: reviewAgentDefinition,
  allows: ({ name }) => (readingTools.has(name) || name.startsWith('code.')) && onlyReads(name),
});
