import os from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { runToMarkdown } from '../../protocol/run/exportMarkdown.ts';
import { runTitle } from '../../protocol/run/run.ts';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { messageOf, UserFacingError } from '../../protocol/text/localized.ts';
import type { RunStore } from '../../runs/store.ts';
import { diskFolders } from '../dialogs/folders.ts';
import { notify } from '../dialogs/notify.ts';
import { redactForSharing } from '../settings/redactSettings.ts';
import type { Secrets } from '../settings/secrets.ts';
import type { JobWorker } from '../worker/jobWorker.ts';

interface Dependencies {
  store: RunStore;
  secrets: Pick<Secrets, 'all'>;
  jobWorkers: Pick<JobWorker, 'run'>;
}

const formats = { markdown: 'md', json: 'json' } as const;
type Format = keyof typeof formats;

/** Implements *Export Run…*: as Markdown, or as an importable file with branches. Both without keys and home folders. */
export async function exportRun(
  runId: string | undefined,
  { store, secrets }: Dependencies,
  given?: { format?: Format; to?: vscode.Uri },
): Promise<void> {
  if (runId === undefined) {
    notify('info', t('No run is shown. Open one, then export it.'));
    return;
  }
  try {
    const format = given?.format ?? (await askFormat());
    if (!format) return;
    const hidden = { secrets: await secrets.all(), home: os.homedir() };
    const hide = (text: string) => redactForSharing(text, hidden);
    const run = await store.read(runId);
    const text = format === 'markdown' ? runToMarkdown(run, hide) : JSON.stringify(await store.exported(runId, hide));
    const to = given?.to ?? (await askTarget(fileName(hide(runTitle(run))), formats[format]));
    if (!to) return;
    await vscode.workspace.fs.writeFile(to, Buffer.from(text));
    notify(
      'info',
      run.damage
        ? t(
            'Exported, without stored keys and home folders. Its record is damaged; the part before the damage is included. Read the file before you share it: everything else you and the model wrote is in it.',
          )
        : t(
            'Exported, without stored keys and home folders. Read the file before you share it: everything else you and the model wrote is in it.',
          ),
    );
  } catch (error) {
    notify('error', t('The run could not be exported. {0}', messageOf(error)));
  }
}

/** Implements *Import Runs…*; returns the id of the exported run. */
export async function importRuns({ store, jobWorkers }: Dependencies, given?: vscode.Uri): Promise<string | undefined> {
  const from = given ?? (await askFile());
  if (!from) return undefined;
  try {
    const read = await jobWorkers.run('runs', from.fsPath);
    if ('trouble' in read) throw new UserFacingError(read.trouble);
    const { runs } = read;
    await store.bring(runs);
    notify(
      'info',
      runs.length > 1
        ? t(
            'Imported with {0}. You can read it. It allows nothing, and it continues only with your next message.',
            localizedCount(runs.length - 1, 'branch', 'branches'),
          )
        : t('Imported. You can read it. It allows nothing, and it continues only with your next message.'),
    );
    return (runs.find(({ shown }) => shown) ?? runs[0]!).id;
  } catch (error) {
    notify('error', t('Nothing was imported. {0}', messageOf(error)));
    return undefined;
  }
}

async function askFormat(): Promise<Format | undefined> {
  const items = [
    {
      label: 'Markdown',
      detail: t('To read and share: the messages, and a line for each call'),
      format: 'markdown',
    },
    { label: 'JSON', detail: t('To import again, with branches and pictures'), format: 'json' },
  ] as const;
  return (await vscode.window.showQuickPick(items, { title: t('Towpath: export this run') }))?.format;
}

const askTarget = (name: string, ending: string): Thenable<vscode.Uri | undefined> => {
  const folder = diskFolders()[0]?.uri.fsPath ?? os.homedir();
  const defaultUri = vscode.Uri.file(path.join(folder, `${name}.${ending}`));
  return vscode.window.showSaveDialog({ defaultUri, title: t('Export Run'), filters: { [ending]: [ending] } });
};

async function askFile(): Promise<vscode.Uri | undefined> {
  const filters = { [t('Exported runs')]: ['json'] };
  return (await vscode.window.showOpenDialog({ title: t('Import Runs'), openLabel: t('Import'), filters }))?.[0];
}

const fileName = (title: string): string =>
  title
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60) || 'run';
