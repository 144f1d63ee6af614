import path from 'node:path';
import type { ModelFileReader } from '../../llm/local/modelFile/modelLibrary.ts';
import { messageOf } from '../../protocol/text/localized.ts';
import { SelectableModels } from '../models/models.ts';
import { StoredModelCheckResults } from '../models/storedChecks.ts';
import { LocalEngine } from '../providers/localEngine.ts';
import { ModelConsent } from '../providers/modelConsent.ts';
import { MoneyLimits } from '../providers/moneyLimits.ts';
import type { StorageServices } from './composeStorage.ts';

export type ModelServices = ReturnType<typeof composeModelServices>;

/** Creates the selectable models with their consents, spending limits and stored checks. */
export function composeModelServices(services: StorageServices) {
  const { context, log, changes, modals, jobWorkers, memory, secrets, stateCache } = services;
  const namedModels = new ModelConsent(memory, modals);
  const localEngine = new LocalEngine(context);
  const limits = new MoneyLimits(path.join(context.globalStorageUri.fsPath, 'spent'), modals);
  const checks = new StoredModelCheckResults(context.globalState, changes.state.notify);
  const readModel: ModelFileReader = (file) =>
    jobWorkers.others.run('model', file).catch((error: unknown) => ({ trouble: messageOf(error) }));
  const models = new SelectableModels(
    context,
    secrets,
    namedModels,
    localEngine,
    modals,
    limits.day,
    stateCache,
    log,
    checks,
    readModel,
    changes.state.notify,
  );
  return { ...services, namedModels, localEngine, limits, checks, readModel, models };
}
