import { readModelFile } from '../../llm/local/ggufInfo.ts';
import { pageText } from '../../tools/web/text.ts';
import { readPackage } from '../../workflows/package/read.ts';
import { type Known, loadAgent, loadWorkflow } from '../../workflows/read/validate.ts';
import { hoverAt, suggestionsAt } from '../../workflows/write/complete.ts';
import { actionSchema, jsonSchemas } from '../../workflows/write/jsonSchema.ts';
import type { Schema } from '../../workflows/write/writing.ts';
import { readRunsFile } from './runsFile.ts';

/**
 * What is done aside of the extension host's thread: whatever takes apart what strangers wrote. Arguments and results are plain data,
 * and what is wrong with a file is in its result.
 */
export const asideJobs = {
  workflow: (text: string, known: Known) => loadWorkflow(text, known),
  agent: (text: string, known: Known) => loadAgent(text, known),
  package: readPackage,
  model: (file: string): ReturnType<typeof readModelFile> => readModelFile(file),
  page: pageText,
  runs: readRunsFile,
  suggestions: (text: string, offset: number, about: About) => suggestionsAt(text, offset, languageOf(about)),
  hover: (text: string, offset: number, about: About) => hoverAt(text, offset, languageOf(about)),
};

export type AsideJobs = typeof asideJobs;

/** A file that is being written, and the workspace's agents. */
export interface About {
  kind: 'workflow' | 'agent';
  agents: readonly string[];
}

function languageOf({ kind, agents }: About) {
  return {
    schema: (jsonSchemas() as Record<About['kind'], Schema>)[kind],
    agents,
    action: actionSchema,
  };
}
