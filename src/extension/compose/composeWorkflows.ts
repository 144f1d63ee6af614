import path from 'node:path';
import type { Workflow } from '../../engine/core/workflow.ts';
import { lazyImport } from '../../protocol/panel/lazyImport.ts';
import { createSearchExclusionPredicate } from '../../tools/policy/policy.ts';
import { PackageRegistry } from '../../workflows/package/packageRegistry.ts';
import { defaultChatWorkflow } from '../../workflows/run/chatWorkflow.ts';
import { registerPackageDiagnostics } from '../language/packageProblems.ts';
import { isAgentFile, WorkflowFiles, workflowFileUri } from '../language/workflowFiles.ts';
import { workflowLanguageFeatures } from '../language/workflowLanguage.ts';
import { registerWorkflowDiagnostics } from '../language/workflowProblems.ts';
import { settings } from '../settings/settings.ts';
import type { PolicyServices } from './composePolicies.ts';

/** Creates the readers of workflow files, packages and instructions of the workspace, and the editor features for these files. */
export function composeWorkflowServices(services: PolicyServices, toolNames: () => Promise<string[]>) {
  const { context, log, workspace, jobWorkers, storage, store, policies, models, memory, modals, namedModels } =
    services;
  const isExcluded = (path: string) => createSearchExclusionPredicate(policies.current(), '')(path);
  const workflowFiles = new WorkflowFiles(toolNames, jobWorkers.files);
  const workflowOfFile = lazyImport(
    () => import('../language/workflowOfFile.ts'),
    (part) => (id: string) => part.loadWorkflowFromFile(workflowFiles, id),
  );
  const packageRuns = lazyImport(() => import('../../workflows/package/workflowOf.ts'));
  const shelf = new PackageRegistry({
    project: workspace,
    storage: path.join(storage, 'packages'),
    openedFile: path.join(storage, 'opened-packages.json'),
    stateFolder: (runId) => store.stateFolder(runId),
    autopilot: () => settings()['packages.autopilot'],
    now: () => new Date(),
    read: (path, folder) => jobWorkers.packages.run('package', path, folder),
    follow: async (...of) => (await packageRuns()).createWorkflowOfPackageRun(...of),
  });
  const instructions = lazyImport(
    () => import('../../tools/instructions/instructions.ts'),
    (part) => part.workspaceInstructions({ workspace, isExcluded }),
  );
  const repositoryAgents = lazyImport(
    () => import('../agents/agentServices.ts'),
    ({ createAgentServices }) =>
      createAgentServices({
        files: workflowFiles,
        workspace,
        worker: jobWorkers.files,
        toolNames,
        isExcluded,
        configuredModel: (names) => models.configuredId(names),
        foreignModel: (name) => models.foreignId(name),
        memory,
        modals,
        namedModels,
      }),
  );
  const workflow = async (id: string): Promise<Workflow> => {
    if (id === defaultChatWorkflow.id) return defaultChatWorkflow;
    const ofPackage = await shelf.workflow(id);
    if (ofPackage) return ofPackage;
    const uri = workflowFileUri(id);
    if (uri && isAgentFile(uri)) return (await repositoryAgents()).workflow(id);
    return (await workflowOfFile())(id);
  };
  context.subscriptions.push(
    ...registerWorkflowDiagnostics(workflowFiles, log),
    ...registerPackageDiagnostics(shelf, log),
    ...workflowLanguageFeatures(workflowFiles, jobWorkers.others),
  );
  return { workflowFiles, repositoryAgents, shelf, instructions, workflow };
}
