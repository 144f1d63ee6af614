import { existsSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { eventually, patienceMs } from '../eventually.ts';
import { manifestSettings } from '../manifestSettings.ts';
import { type Dialog, dialogOf } from './dialog.ts';
import { connectHost, type ExtensionHost } from './host.ts';
import { type Panel, panelOf } from './panel.ts';
import { draw, picture, pictureOfFailure } from './picture.ts';
import { projectRoot } from './project.ts';
import { copySample, restoreFiles, sampleFiles, temporaryFolder, writeWorkspace } from './sample.ts';
import { openWorkbench, type WorkbenchOptions } from './workbench.ts';

export interface TowpathOptions
  extends Pick<
    WorkbenchOptions,
    | 'userDataDir'
    | 'env'
    | 'settings'
    | 'theme'
    | 'viewport'
    | 'agent'
    | 'trust'
    | 'connectionsTo'
    | 'withoutUserNamespaces'
    | 'language'
    | 'builtIn'
  > {
  /** The workspace's files, relative path → text. Neither this nor `folder`: a fresh copy of the sample workspace. */
  files?: Record<string, string>;
  /** An existing folder to open; it stays when the editor stops. `null`: an empty window. */
  folder?: string | null;
  /** Leaves the panel closed, and Towpath thereby asleep. */
  panelClosed?: boolean;
  /** A folder of installed extensions, Towpath among them, in the place of the one that is being developed. */
  installed?: string;
  /** More extensions beside it, absolute paths. */
  extensions?: string[];
  /** Where screenshots go. Default: to `test/out/screenshots`, where they are wanted (`picture.ts`). */
  screenshots?: string;
}

/** A window, as a person has it before them. */
export interface Window {
  page: Page;
  panel: Panel;
  dialog: Dialog;
  /** Runs a command as a person does, by its title in the palette. */
  command(title: string): Promise<void>;
  /** What it tells with these words: above the message box, or, where the panel is out of view, in a notification. */
  told(words: string | RegExp): Promise<Locator>;
}

export interface AnotherWindow extends Window {
  /** Closes it, as a person does. */
  close(): Promise<void>;
}

/** A real editor with Towpath in it, in the hands of a test. */
export interface Towpath extends Window {
  host: ExtensionHost;
  /** The workspace, an absolute path, of several folders that of their `.code-workspace`; empty in an empty window. */
  folder: string;
  /** Settings and storage, an absolute path. */
  userDataDir: string;
  /** A file of the workspace as it is on disk now; undefined when there is none. */
  read(file: string): string | undefined;
  /** Another window with the same open, and its panel in view. It has no host that a test could ask, and goes with this one at the latest. */
  another(): Promise<AnotherWindow>;
  /** Gives a file's path to the editor's own dialog of this title. */
  chooseFile(title: string, file: string): Promise<void>;
  /** Opens the view and waits for the composer. */
  showPanel(): Promise<void>;
  /** Makes the side bar about this many pixels wide. */
  resizePanel(width: number): Promise<void>;
  /**
   * What a new window would come up with, in this one, which costs a tenth of that: the workspace's files as at first, nothing open or
   * said, a new run, and these settings in the place of those before. What runs and secrets it has stays.
   */
  begin(settings?: Record<string, unknown>): Promise<void>;
  /** Reloads the window, whatever it is doing, and waits for the new extension host. The panel comes back by itself. */
  reload(): Promise<void>;
  /** A picture of the whole window for looking at. */
  screenshot(name: string): Promise<unknown>;
  /** What the editor's server has printed, crashes of extension hosts among it. */
  log(): string;
  stop(): Promise<void>;
  /** Ends the editor like a power cut; with a `userDataDir` and a `folder` the next one finds what was kept. */
  kill(): Promise<void>;
}

const open = new Set<Towpath>();

/** The editors that no test has stopped yet. */
export function openEditors(): Towpath[] {
  return [...open];
}

/**
 * Opens a workspace in a real editor with Towpath (as built in `dist/`), with real dialogs, and its panel in view.
 * Everything temporary goes when it stops.
 */
export async function openTowpath(options: TowpathOptions = {}): Promise<Towpath> {
  const temporary = temporaryFolder();
  const folder = options.folder ?? (options.files ? writeWorkspace(temporary, options.files) : copySample(temporary));
  const isEmptyWindow = options.folder === null;
  const removeTemporary = () => rmSync(temporary, { recursive: true, force: true });
  const workbench = await openWorkbench({
    builtIn: options.installed || options.connectionsTo ? 'all' : 'few', // what is as people have it, has all
    ...options,
    folder: isEmptyWindow ? undefined : folder,
    ...(options.installed && { extensionsDir: options.installed }),
    developmentPaths: [
      ...(options.installed ? [] : [projectRoot]),
      path.join(import.meta.dirname, 'driver-ext'),
      ...(options.extensions ?? []),
    ],
  }).catch((error) => {
    removeTemporary();
    throw error;
  });
  const { page, server } = workbench;
  const host = connectHost(server.driverSocket);
  const own = windowOf(page);
  const { panel } = own;
  let set: Record<string, unknown> = options.settings ?? {};
  let ended: Promise<void> | undefined;
  const end = (how: () => Promise<void>) => {
    open.delete(towpath);
    ended ??= how().then(removeTemporary);
    return ended;
  };
  const load = async (again: boolean) => {
    const before = again ? await host.ready() : undefined;
    if (again) await page.reload();
    await workbenchReady(page);
    await host.ready(before);
  };
  /** On a busy machine a window comes up without the person's settings at times. A change of their file, or another reload, brings them. */
  const settingsRead = async () => {
    const file = path.join(server.userDataDir, 'User', 'settings.json');
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    const name = Object.keys(options.settings ?? {}).find((one) => kept[one] !== undefined);
    if (name === undefined) return;
    for (let tries = 1; tries <= 30; tries++) {
      const now = await host.evaluate((vscode, key) => vscode.workspace.getConfiguration().get<unknown>(key), name);
      if (JSON.stringify(now) === JSON.stringify(kept[name])) return;
      if (tries % 10 === 0) await load(true);
      else utimesSync(file, new Date(), new Date());
      await sleep(500);
    }
    throw new Error(`The window does not read ${name} from its settings.`);
  };
  /** On a busy machine a window comes up without the folders of its `.code-workspace` at times, and stays so until it is reloaded. */
  const foldersOpened = async () => {
    if (isEmptyWindow || !folder.endsWith('.code-workspace')) return;
    const { folders } = JSON.parse(readFileSync(folder, 'utf8')) as { folders: unknown[] };
    for (let tries = 1; tries <= 10; tries++) {
      const count = () => host.evaluate((vscode) => vscode.workspace.workspaceFolders?.length ?? 0);
      if ((await count()) === folders.length) return;
      await load(true);
    }
    throw new Error(`The window does not open the folders of ${path.basename(folder)}.`);
  };
  const towpath: Towpath = {
    ...own,
    host,
    folder: isEmptyWindow ? '' : folder,
    userDataDir: server.userDataDir,
    read(file) {
      const place = path.join(folder, file);
      return existsSync(place) ? readFileSync(place, 'utf8') : undefined;
    },
    async another() {
      const other = await workbench.another(options.installed ? [] : [projectRoot]); // the driver has one socket
      await workbenchReady(other);
      await other.bringToFront();
      const second = windowOf(other);
      try {
        const icon = other.locator('.activitybar').getByRole('tab', { name: /^Towpath/ });
        await icon.waitFor();
        await eventually('its panel is in view', async () => {
          if (await second.panel.composer.isVisible()) return true;
          // It may be coming by itself, as the window had it before: then a press would put it away.
          if ((await icon.getAttribute('aria-selected')) === 'false') await icon.click();
          await sleep(500);
          return false;
        });
        await second.panel.ready();
      } catch (error) {
        const seen = await pictureOfFailure(other, 'another-did-not-open');
        throw new Error(`The second window did not open; picture: ${seen}\n${server.log()}`, { cause: error });
      }
      return {
        ...second,
        async close() {
          await other.goto('about:blank'); // its last words to the server are that it does not come back
          await other.close();
        },
      };
    },
    async chooseFile(title, file) {
      const dialog = page.locator('.quick-input-widget', { hasText: title });
      const input = dialog.locator('input').first();
      const value = async () => ((await dialog.isVisible()) ? input.inputValue({ timeout: 2000 }) : undefined);
      // A list of the same title may be open before. The dialog begins with the path of a folder.
      await eventually(`the dialog ${title} is open`, async () => path.isAbsolute((await value()) ?? ''));
      await eventually(`the dialog has taken ${file}`, async () => {
        try {
          // While it looks into a folder it takes no answer, and it looks again whenever something is written.
          const written = await value();
          if (written === undefined) return true;
          if (written !== file) await input.fill(file, { timeout: 2000 });
          else await input.press('Enter', { timeout: 2000 });
        } catch {
          // It closed in between.
        }
        return false;
      });
    },
    async showPanel() {
      await host.evaluate(async (vscode) => {
        await vscode.commands.executeCommand('towpath.chat.focus');
      });
      await panel.ready();
    },
    async resizePanel(width) {
      const sideBar = await page.locator('.part.sidebar').boundingBox();
      if (!sideBar) throw new Error('The side bar is not in view.');
      const edge = { x: sideBar.x + sideBar.width, y: sideBar.y + sideBar.height / 2 };
      await page.mouse.move(edge.x, edge.y);
      await page.mouse.down();
      await page.mouse.move(sideBar.x + width, edge.y, { steps: 5 });
      await page.mouse.up();
      await page.mouse.move(edge.x + 200, edge.y); // off the edge, which glows while the pointer is on it
    },
    async begin(settings = {}) {
      await host.evaluate(async (vscode) => {
        const run = vscode.commands.executeCommand;
        await run('workbench.action.closeQuickOpen');
        await run('notifications.clearAll');
        const tabs = () => vscode.window.tabGroups.all.flatMap((group) => group.tabs);
        for (let left = tabs().length; left > 0; left--) await run('workbench.action.revertAndCloseActiveEditor');
        await run('workbench.action.closeAllEditors');
      });
      if (!options.folder) {
        const wanted = options.files ?? sampleFiles();
        // The editor knows what it has open only by and by when others change it: what it has, it changes itself.
        await host.evaluate(
          async (vscode, [root, files]) => {
            for (const document of vscode.workspace.textDocuments) {
              const name = document.fileName.slice(root.length + 1).replaceAll('\\', '/');
              const text = files[name]?.replace(/^\uFEFF/, '');
              const isOurs = document.uri.scheme === 'file' && document.fileName.startsWith(root);
              if (!isOurs || text === undefined || text === document.getText()) continue;
              const edit = new vscode.WorkspaceEdit();
              edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), text);
              await vscode.workspace.applyEdit(edit);
              await document.save();
            }
          },
          [folder, wanted] as const,
        );
        restoreFiles(folder, wanted);
      }
      await host.evaluate(
        async (vscode, [names, values]) => {
          const configuration = vscode.workspace.getConfiguration();
          for (const name of new Set([...names, ...Object.keys(values)])) {
            if (JSON.stringify(configuration.inspect(name)?.globalValue) !== JSON.stringify(values[name]))
              await configuration.update(name, values[name], vscode.ConfigurationTarget.Global);
          }
          await vscode.commands.executeCommand('towpath.newRun');
        },
        [[...Object.keys(set), ...Object.keys(manifestSettings)], settings] as const,
      );
      set = settings;
      await towpath.showPanel();
      await eventually('the conversation is empty', async () => (await panel.transcript()).length === 0);
      // A window that was reloaded right after a message had gone may bring back what it held.
      const pictures = panel.frame.getByTestId('pictures').locator('button');
      while ((await pictures.count()) > 0) await pictures.first().click();
      if ((await panel.composer.inputValue()) !== '') await panel.write('');
    },
    async reload() {
      await load(true);
      await settingsRead();
    },
    screenshot: (name) => (options.screenshots ? draw(page, options.screenshots, name) : picture(page, name)),
    log: server.log,
    stop: () => end(workbench.stop),
    kill: () => end(workbench.kill),
  };
  open.add(towpath);
  try {
    await load(false);
    await foldersOpened();
    await settingsRead();
    if (!options.panelClosed) await towpath.showPanel();
    return towpath;
  } catch (error) {
    const seen = await pictureOfFailure(page, 'did-not-open');
    await towpath.stop();
    throw new Error(`The editor did not open; picture: ${seen}\n${server.log()}`, { cause: error });
  }
}

function windowOf(page: Page): Window {
  const panel = panelOf(page);
  return {
    page,
    panel,
    async told(words) {
      const places = [
        panel.frame.getByTestId('notice').filter({ hasText: words }).first(),
        page.locator('.notification-toast', { hasText: words }).first(),
      ];
      // The page itself looks in each frame: a notice may be there for a few seconds only.
      const seen = places.map((place) => place.waitFor({ timeout: patienceMs }).then(() => place));
      return Promise.any(seen).catch(() => {
        throw new Error(`It does not tell ${words} within ${patienceMs / 1000} s.`);
      });
    },
    dialog: dialogOf(page),
    async command(title) {
      const input = page.locator('.quick-input-widget input').first();
      const row = page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first();
      await eventually(`the palette runs ${title}`, async () => {
        // A window that has just come up forgets keys, and takes the palette away when something else takes the keys.
        if (!(await input.isVisible())) await page.keyboard.press('F1');
        try {
          await input.fill(`>${title}`, { timeout: 2000 });
          await row.click({ timeout: 10_000 }); // what extensions bring is listed late on a busy machine
          return true;
        } catch {
          return false;
        }
      });
    },
  };
}

async function workbenchReady(page: Page): Promise<void> {
  await page.locator('.monaco-workbench').waitFor();
}
