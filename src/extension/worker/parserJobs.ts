// @invariant foreign-files-parse-in-a-worker: Files of others are parsed in a worker thread, after a check of their size and nesting.
import { lazyImport } from '../../protocol/panel/lazyImport.ts';
import type { DescribedJsonSchema } from '../../workflows/write/writing.ts';

const language = lazyImport(() =>
  Promise.all([import('../../workflows/write/complete.ts'), import('../../workflows/write/jsonSchema.ts')]),
);

/**
 * Jobs of the parser worker: parsers of untrusted files, loaded on first use. Arguments and results are plain data; file errors are part of
 * the result.
 */
export const parserJobs = {
  workflow: lazyImport(
    () => import('../../workflows/read/validate.ts'),
    ({ loadWorkflow }) => loadWorkflow,
  ),
  agent: lazyImport(
    () => import('../../workflows/read/validate.ts'),
    ({ loadAgent }) => loadAgent,
  ),
  agentMarkdown: lazyImport(
    () => import('../../workflows/agents/parseAgentMarkdown.ts'),
    ({ parseAgentMarkdown }) => parseAgentMarkdown,
  ),
  package: lazyImport(
    () => import('../../workflows/package/readPackage.ts'),
    ({ readWorkflowPackage }) => readWorkflowPackage,
  ),
  model: lazyImport(
    () => import('../../llm/local/modelFile/ggufInfo.ts'),
    ({ readModelFileDescription }) =>
      (file: string) =>
        readModelFileDescription(file),
  ),
  page: lazyImport(
    () => import('../../tools/web/text.ts'),
    ({ pageText }) => pageText,
  ),
  runs: lazyImport(
    () => import('./runsFile.ts'),
    ({ readRunsFile }) => readRunsFile,
  ),
  suggestions: lazyImport(
    language,
    ([{ workflowFileCompletionsAt }, schemas]) =>
      (text: string, offset: number, context: WorkflowFileContext) =>
        workflowFileCompletionsAt(text, offset, languageOf(context, schemas)),
  ),
  hover: lazyImport(
    language,
    ([{ workflowHoverAt }, schemas]) =>
      (text: string, offset: number, context: WorkflowFileContext) =>
        workflowHoverAt(text, offset, languageOf(context, schemas)),
  ),
};

export interface WorkflowFileContext {
  kind: 'workflow' | 'agent';
  agents: readonly string[];
}

function languageOf(
  { kind, agents }: WorkflowFileContext,
  { workflowActionSchema, createWorkflowJsonSchemas }: Awaited<ReturnType<typeof language>>[1],
) {
  return {
    schema: (createWorkflowJsonSchemas() as Record<WorkflowFileContext['kind'], DescribedJsonSchema>)[kind],
    agents,
    action: workflowActionSchema,
  };
}
