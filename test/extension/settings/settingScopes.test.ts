import assert from 'node:assert/strict';
import { formerSettingNames } from '../../../src/extension/settings/formerSettings.ts';
import {
  type InspectedSetting,
  machineSettingNames,
  userSettingValue,
} from '../../../src/extension/settings/settingScopes.ts';
import { manifestSections, manifestSettings } from '../../support/manifestSettings.ts';

/**
 * Which settings a repository must not be able to set, and why. Its `devcontainer.json` writes the machine's settings file,
 * where those of the scope `machine` are read in a remote window; those of the scope `application` are read in the person's own
 * settings alone. A new setting needs a line here.
 */
const scopes: Record<'application' | 'machine', Record<string, string>> = {
  application: {
    model: 'who reads the conversation',
    providers: 'where the conversation and its keys go, and what they cost',
    models: 'who reads the conversation, or a summary of it',
    offeredModels: 'who may have what answered, and what is paid for that',
    'local.hub': 'where models are downloaded from',
    'local.engineRegistry': 'where programs are downloaded from',
    'approvals.preset': 'what runs without a question',
    'approvals.readOnlyCommands': 'what runs without a question',
    'approvals.rules': 'what runs without a question',
    'editor.decorations': 'what the person sees of what nobody was asked about',
    'audit.folder': 'where it is told what was done, and whether it is',
    'packages.autopilot': 'whether the model asks before it decides',
    'web.allowPrivate': 'what can be reached',
    'mcp.servers': 'what is started, and told what tools are called with',
    'mcp.clientMetadata': 'who Towpath is to the sites where the person signs in',
    'mcp.timeouts.start': 'how long a server may take for what nobody looks at',
    'mcp.timeouts.call': 'how long a call may go on',
    'shell.timeout': 'how long a command may go on',
    'shell.terminal': 'where its output is seen',
    'limits.run': 'what is paid before the person is asked',
    'limits.day': 'what is paid before the person is asked',
    maxTurns: 'how much is done, and paid, before the person is asked',
    'tasks.parallel': 'how many agents work, and are paid, at the same time',
    thinkingBudget: 'what is paid',
    temperature: 'how the model answers',
    retries: 'what is paid, and how often a provider is asked',
    retryAfterCap: 'how long a run waits for a provider',
    'rateLimit.requestsPerMinute': 'what is paid in a minute',
    'rateLimit.tokensPerMinute': 'what is paid in a minute',
    'timeouts.connect': 'belongs to the provider, which is the same on every machine',
    'timeouts.firstToken': 'belongs to the provider',
    'timeouts.idle': 'belongs to the provider',
    'timeouts.total': 'belongs to the provider',
    'undo.commands': 'without it commands cannot be undone',
    'undo.commandBudget': 'decides what can be undone, and fills the disk',
    'undo.quota': 'without it nothing can be undone, and edits may be free because they can',
  },
  machine: {
    'local.folders': 'paths of this machine',
    'local.downloadFolder': 'a path of this machine',
    'local.threads': 'the processor of this machine',
    'local.gpu': 'the graphics card of this machine',
    'local.contextSize': 'the memory of this machine',
    'local.idleUnload': 'the memory of this machine',
    'local.stateQuota': 'the disk of this machine',
    'local.chatWrapper': 'for a model file of this machine',
  },
};

// Holds repositories-widen-nothing.
describe('the scopes of settings', () => {
  it('they stand in order below their headings, and are few enough to be read', () => {
    const orders = (all: { order: number }[]) => all.map(({ order }) => order);
    const counted = (all: unknown[]) => all.map((_, at) => at + 1);
    assert.deepEqual(orders(manifestSections), counted(manifestSections));
    for (const { properties } of manifestSections)
      assert.deepEqual(orders(Object.values(properties)), counted(Object.values(properties)));
    const { length } = Object.keys(manifestSettings);
    assert.ok(length <= 44, `${length} settings`);
  });

  it('each setting has the scope that its reason asks for', () => {
    const expected = Object.entries(scopes).flatMap(([scope, reasons]) =>
      Object.entries(reasons).map(([name, reason]) => {
        assert.ok(reason.trim(), `${name} has no reason`);
        return [`towpath.${name}`, scope];
      }),
    );
    const actual = Object.entries(manifestSettings).map(([name, { scope }]) => [name, scope]);
    assert.deepEqual(Object.fromEntries(actual), Object.fromEntries(expected));
    assert.deepEqual([...machineSettingNames].sort(), Object.keys(scopes.machine).sort());
  });

  it('those that towpath.providers has superseded are nowhere declared, and the machine is not asked for them', () => {
    for (const name of formerSettingNames) {
      assert.equal(manifestSettings[`towpath.${name}`], undefined, name);
      assert.equal(machineSettingNames.has(name), false, name);
    }
  });

  const cases: [name: string, setting: string, places: InspectedSetting, own: unknown][] = [
    ['nothing is set', 'model', { defaultValue: '' }, undefined],
    ['mine', 'model', { globalLocalValue: 'me', globalValue: 'me' }, 'me'],
    ['of a window that is not remote', 'model', { globalValue: 'me' }, 'me'],
    ["the machine's does not stand in for mine", 'model', { globalRemoteValue: 'it', globalValue: 'it' }, undefined],
    ['mine wins over it', 'model', { globalLocalValue: 'me', globalRemoteValue: 'it', globalValue: 'it' }, 'me'],
    [
      "a folder's of a superseded one does not, which the editor lets through",
      'baseUrls',
      { workspaceValue: {}, workspaceFolderValue: {} },
      undefined,
    ],
    ["nor the machine's", 'baseUrls', { globalRemoteValue: {}, globalValue: {} }, undefined],
    ['mine of a superseded one still counts', 'endpoint.baseUrl', { globalValue: 'me', workspaceValue: 'it' }, 'me'],
    ["a folder's does not, either", 'model', { workspaceValue: 'it', workspaceFolderValue: 'it' }, undefined],
    ['false of mine is no nothing', 'web.allowPrivate', { globalLocalValue: false, globalRemoteValue: true }, false],
    ["the machine's for what is the machine's", 'local.threads', { globalRemoteValue: 3, globalValue: 3 }, 3],
    ["a folder's, not for that", 'local.threads', { globalValue: 3, workspaceValue: 9 }, 3],
  ];
  for (const [name, setting, places, own] of cases)
    it(`who sets one: ${name}`, () => assert.deepEqual(userSettingValue(setting, places), own));
});
