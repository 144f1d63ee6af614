import { homedir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { localize, messageOf } from '../../protocol/text/localized.ts';
import { shortenText } from '../../protocol/text/shorten.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { type ImportableMcpServer, toImportableServer } from '../../tools/mcp/config/foreignConfig.ts';
import { findServersElsewhere, type ServerElsewhere } from '../../tools/mcp/config/otherConfigs.ts';
import { uniqueServerName } from '../../tools/mcp/config/proposedName.ts';
import { type EnteredServer, hasLineComments, parseServerInput } from '../../tools/mcp/config/serverInput.ts';
import { joinCommandLine } from '../../tools/mcp/serverTool.ts';
import { diskFolders } from '../dialogs/folders.ts';
import { notify } from '../dialogs/notify.ts';
import { plainLabel } from '../dialogs/plainLabel.ts';
import { showInputStep, showPickStep, type WizardStepOptions, wizardBackResult } from '../dialogs/steps.ts';
import type { McpServices } from './mcp.ts';
import { addToConfigFile, addToUserSetting, type ServerConfigFile, serverConfigFiles } from './serverConfigs.ts';

/** Text of the first step, to be shown again by *Back*, and the servers that it describes. */
interface Entered {
  text: string;
  servers: readonly EnteredServer[];
}

type Target = ServerConfigFile | 'user';

/** *Add Server…*: one input, a name, the configuration to write. The dialog before the start is the review. */
export async function addMcpServer(mcp: McpServices): Promise<void> {
  const elsewhere = findServersElsewhere(otherConfigSystem(mcp.context)).catch(() => []);
  const used = new Set([...mcp.servers.servers, ...mcp.servers.switchedOff].map(({ name }) => name));
  let entered: Entered | undefined;
  let name: string | undefined;
  let step: 'server' | 'name' | 'target' = 'server';
  for (;;) {
    if (step === 'server') {
      const next = await enterServer(entered?.text ?? '', await elsewhere, used);
      if (next === undefined || next === wizardBackResult) return;
      entered = next;
      name = undefined;
      step = entered.servers.length > 1 ? 'target' : 'name';
    }
    const servers: readonly EnteredServer[] = entered!.servers;
    if (step === 'name') {
      const next = await enterName(name ?? uniqueServerName(servers[0]!.name, used), used);
      if (next === undefined) return;
      step = next === wizardBackResult ? 'server' : 'target';
      if (next === wizardBackResult) continue;
      name = next;
    }
    const target = await selectTarget(mcp.workspace);
    if (target === undefined) return;
    if (target === wizardBackResult) step = servers.length > 1 ? 'server' : 'name';
    else {
      const added = toUniqueServers(name === undefined ? servers : [{ ...servers[0]!, name }], used);
      return save(mcp, added, target);
    }
  }
}

const optionsOf = (step: number): WizardStepOptions => ({
  title: t('Add MCP Server'),
  step,
  totalSteps: 3,
  canGoBack: step > 1,
});

function toUniqueServers(servers: readonly EnteredServer[], used: ReadonlySet<string>): ImportableMcpServer[] {
  const names = new Set(used);
  return servers.flatMap(({ name, entry, inputs }) => {
    const unique = uniqueServerName(name, names);
    names.add(unique);
    return toImportableServer(unique, entry, inputs) ?? [];
  });
}

function enterServer(text: string, elsewhere: readonly ServerElsewhere[], used: ReadonlySet<string>) {
  const found = elsewhere.map((server) => ({
    label: plainLabel(t('Found in {0}: {1}', server.program, server.name)),
    description: plainLabel(shortenText(summaryOf([server], used).label, maxSummary)),
    value: { text: '', servers: [server] },
  }));
  return showPickStep<Entered>({
    ...optionsOf(1),
    placeholder: t('Enter a command, a URL, or paste JSON'),
    text,
    fill: async ({ show, onText }) => {
      let newest = text;
      const update = async (typed: string) => {
        newest = typed;
        if (typed.trim() === '') return show({ rows: found });
        const servers = await readInput(typed);
        if (newest !== typed) return;
        show({ rows: [understoodRow(typed, servers, used), ...found] });
      };
      onText((typed) => void update(typed));
      await update(text);
    },
  });
}

/** Reads the input. A box of one line has lost the line ends that end comments: they are in the clipboard. */
async function readInput(text: string): Promise<EnteredServer[]> {
  const servers = parseServerInput(text);
  if (servers.length > 0 || !hasLineComments(text)) return servers;
  const pasted = await Promise.resolve(vscode.env.clipboard.readText()).catch(() => '');
  const isPasted = pasted.replace(/\s+/g, '') === text.replace(/\s+/g, '');
  return isPasted ? parseServerInput(pasted) : [];
}

function understoodRow(text: string, servers: readonly EnteredServer[], used: ReadonlySet<string>) {
  if (servers.length === 0)
    return {
      label: `$(error) ${t('Not a command, URL or server configuration')}`,
      alwaysShow: true,
      act: () => {},
    };
  const { icon, label, detail } = summaryOf(servers, used);
  return {
    label: `$(${icon}) ${plainLabel(shortenText(label, maxSummary))}`,
    alwaysShow: true,
    ...(detail !== '' && { detail: plainLabel(detail) }),
    value: { text, servers },
  };
}

const maxSummary = 120;

function summaryOf(servers: readonly EnteredServer[], used: ReadonlySet<string>) {
  const all = toUniqueServers(servers, used);
  const inputs = all.flatMap((one) =>
    one.inputs.map(({ id, description }) => ({
      isStored: one.values.has(id),
      label: all.length > 1 ? String(description) : String(description).replace(` of ${one.name}`, ''),
    })),
  );
  const secrets = inputs.filter(({ isStored }) => isStored).map(({ label }) => label);
  const requested = inputs.filter(({ isStored }) => !isStored).map(({ label }) => label);
  const left = [...new Set(all.flatMap((one) => one.left))];
  const notes = [
    all.length > 1 && all.map(({ name }) => name).join(', '),
    secrets.length > 0 && t('Stored as secrets, not in the file: {0}', secrets.join(', ')),
    requested.length > 0 && t('Requested at the start: {0}', requested.join(', ')),
    left.length > 0 && t('Not used: {0}', left.join(', ')),
  ];
  return { ...kindOf(all), detail: notes.filter(Boolean).join(' · ') };
}

function kindOf(servers: readonly ImportableMcpServer[]): { icon: string; label: string } {
  const [{ server }] = servers as [ImportableMcpServer];
  if (servers.length > 1) return { icon: 'list-unordered', label: t('{0} servers found', servers.length) };
  if (typeof server.url === 'string') return { icon: 'globe', label: t('Connects to {0}', hostOf(server.url)) };
  const words = [server.command, ...(Array.isArray(server.args) ? server.args : [])].map(String);
  return { icon: 'terminal', label: t('Runs: {0}', joinCommandLine(words)) };
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

function enterName(value: string, used: ReadonlySet<string>) {
  return showInputStep<string>({
    ...optionsOf(2),
    prompt: t('Name of the server'),
    value,
    validate: (text) =>
      used.has(text.trim())
        ? t('There is already a server “{0}”.', text.trim())
        : text.trim().length > maxName
          ? t('Use at most {0} characters.', maxName)
          : undefined,
    accept: async (text) => ({ value: text }),
  });
}

const maxName = 60;

function selectTarget(workspace: Workspace) {
  const rows = serverConfigFiles(workspace).map((config) => ({
    label: t('Workspace'),
    description: t('{0}, shared with everyone who opens this folder', config.file),
    value: config as Target,
  }));
  const user = { label: t('User'), description: t('all your workspaces'), value: 'user' as Target };
  return showPickStep<Target>({
    ...optionsOf(3),
    placeholder: t('Select where to store the server'),
    fill: async ({ show }) => show({ rows: [...rows, user] }),
  });
}

/** Writes the servers, stores their secrets and starts them, each after its dialog. */
async function save(mcp: McpServices, servers: readonly ImportableMcpServer[], target: Target): Promise<void> {
  try {
    if (target === 'user') await addToUserSetting(servers);
    else await addToConfigFile(mcp.workspace, target.file, servers);
  } catch (error) {
    const where = target === 'user' ? '' : `${target.file}: `;
    return notify('error', where + localize(messageOf(error)));
  }
  await mcp.servers.reload();
  const place = target === 'user' ? 'settings' : target.place;
  for (const { name, values } of servers) {
    const server = mcp.servers.servers.find(({ definition: one }) => one.name === name && one.place === place);
    if (!server) continue; // switched off, or a problem that the list shows
    for (const [id, value] of values) await mcp.questions.storeInput(server.definition, id, value);
    await mcp.questions.whileEntered(server.definition, () => mcp.servers.start(server));
    if (server.state.phase === 'running')
      notify('info', t('“{0}” is running with {1}.', name, localizedCount(server.tools.length, 'tool')));
  }
}

function otherConfigSystem(context: vscode.ExtensionContext) {
  const open = vscode.workspace.workspaceFile ?? diskFolders()[0]?.uri;
  const storage = context.globalStorageUri; // …/User/globalStorage/<extension>
  return {
    platform: process.platform,
    env: process.env,
    home: homedir(),
    editorName: vscode.env.appName,
    ...(storage.scheme === 'file' && { editorFolder: path.dirname(path.dirname(storage.fsPath)) }),
    openUri: open?.toString(),
  };
}
