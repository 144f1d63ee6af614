// @invariant foreign-files-parse-in-a-worker: Files of others are parsed in a worker thread, after a check of their size and nesting.
import { lazily } from '../../protocol/panel/lazyImport.ts';
import type { Schema } from '../../workflows/write/writing.ts';

const language = lazily(() =>
  Promise.all([import('../../workflows/write/complete.ts'), import('../../workflows/write/jsonSchema.ts')]),
);

/**
 * Jobs of the parser worker: parsers of untrusted files, loaded on first use. Arguments and results are plain data; file errors are part of
 * the result.
 */
export const workerJobs = {
  workflow: lazily(
    () => import('../../workflows/read/validate.ts'),
    ({ loadWorkflow }) => loadWorkflow,
  ),
  agent: lazily(
    () => import('../../workflows/read/validate.ts'),
    ({ loadAgent }) => loadAgent,
  ),
  package: lazily(
    () => import('../../workflows/package/readPackage.ts'),
    ({ readPackage }) => readPackage,
  ),
  model: lazily(
    () => import('../../llm/local/modelFile/ggufInfo.ts'),
    ({ readModelFile }) =>
      (file: string) =>
        readModelFile(file),
  ),
  page: lazily(
    () => import('../../tools/web/text.ts'),
    ({ pageText }) => pageText,
  ),
  runs: lazily(
    () => import('./runsFile.ts'),
    ({ readRunsFile }) => readRunsFile,
  ),
  suggestions: lazily(
    language,
    ([{ suggestionsAt }, schemas]) =>
      (text: string, offset: number, about: About) =>
        suggestionsAt(text, offset, languageOf(about, schemas)),
  ),
  hover: lazily(
    language,
    ([{ hoverAt }, schemas]) =>
      (text: string, offset: number, about: About) =>
        hoverAt(text, offset, languageOf(about, schemas)),
  ),
};

export type WorkerJobs = { [Name in keyof typeof workerJobs]: Awaited<ReturnType<(typeof workerJobs)[Name]>> };

export interface About {
  kind: 'workflow' | 'agent';
  agents: readonly string[];
}

function languageOf({ kind, agents }: About, { actionSchema, jsonSchemas }: Awaited<ReturnType<typeof language>>[1]) {
  return {
    schema: (jsonSchemas() as Record<About['kind'], Schema>)[kind],
    agents,
    action: actionSchema,
  };
}
