import assert from 'node:assert/strict';
import { setImmediate as moment } from 'node:timers/promises';
import type { TranslationBundle } from '../../src/protocol/text/l10n.ts';
import { built } from '../support/programs.ts';

describe('The first program', () => {
  let code: string;
  before(async () => {
    code = (await built('extension.cjs')).files.get('extension.cjs')!;
  });

  it('loads nothing else to be activated', () => {
    const { window, loads } = start(code);
    assert.deepEqual(
      [[...window.commands.keys()], window.views],
      [
        ['towpath.showChat', 'towpath.one', 'towpath.two'],
        ['towpath.chat', 'towpath.chatTab'],
      ],
    );
    assert.deepEqual(loads, []);
  });

  it('a command waits for the rest, which is loaded once', async () => {
    const { window, loads, later } = start(code);
    assert.equal(await window.commands.get('towpath.one')!('a', 1), 'towpath.one ran with a,1');
    assert.equal(await window.commands.get('towpath.two')!(), 'towpath.two ran with ');
    assert.deepEqual([loads, later.size], [['./main.cjs'], 0]);
  });

  it('the page is there before the rest is, and what was done in it meanwhile is told in order, once', async () => {
    const { window, loads, heard, soon } = start(code);
    const page = window.show();
    assert.match(page.html, /panel\.js/);
    page.say('ready');
    page.say('send: hello');
    assert.deepEqual([loads, heard], [[], []]);
    await soon();
    page.say('stop');
    assert.deepEqual([loads, heard], [['./main.cjs'], ['opened', 'ready', 'send: hello', 'stop']]);
  });

  it('the page says in whose words it is drawn, and has those as data that ends nowhere in them', () => {
    const block = /<script type="application\/json" id="words">([^<]*)<\/script>/;
    const policy = /script-src 'nonce-[^']+';/;
    const english = start(code).window.show().html;
    assert.match(english, /<html lang="en">/);
    assert.equal(block.exec(english)![1], '');
    const bundle = { 'No <b>': '<!-- Kein </script><b>', 'Close “{0}”': '„{0}“ schließen' };
    const german = start(code, { language: 'de', bundle }).window.show().html;
    assert.match(german, /<html lang="de">/);
    assert.deepEqual(JSON.parse(block.exec(german)![1]!), bundle);
    for (const html of [english, german]) assert.match(html, policy);
    assert.ok(german.indexOf('id="words"') < german.indexOf('panel.js'));
  });

  it('where the editor speaks a language that we have no words in, all is English', () => {
    const { html } = start(code, { language: 'fr' }).window.show();
    assert.match(html, /<html lang="en">/);
    assert.match(html, /id="words"><\/script>/);
  });

  it('says in the editor’s language that it could not start', async () => {
    const english = 'Towpath could not start. Reload the window, or reinstall it.';
    const load = () => assert.fail('half a file');
    const { window, soon } = start(code, { language: 'de', bundle: { [english]: 'Towpath startet nicht.' }, load });
    window.show();
    await soon();
    assert.deepEqual(window.errors, ['Towpath startet nicht.']);
  });

  it('a page that was hidden and made again before anybody listened is known to be another', async () => {
    const { window, heard, soon } = start(code);
    const page = window.show();
    page.say('ready');
    page.say('send: hello');
    page.turn();
    page.hide();
    window.show().say('ready');
    await soon();
    assert.deepEqual(heard, ['opened', 'ready', 'send: hello', 'turned', 'closed', 'turned', 'opened', 'ready']);
  });

  it('the tab comes back after a reload, once, and is heard like the view', async () => {
    const { window, heard, soon } = start(code);
    const [tab, another] = [window.bringBack(), window.bringBack()];
    tab.say('ready');
    window.show().say('ready');
    await soon();
    tab.say('send: hello');
    assert.equal(another.html, '');
    assert.deepEqual(heard, ['opened', 'ready', 'opened', 'ready', 'send: hello']);
    assert.equal(await window.commands.get('towpath.showChat')!(), undefined);
    assert.deepEqual(window.revealed, ['tab'], 'what is there first is shown, where nobody has used either');
    tab.hide();
    await window.commands.get('towpath.showChat')!();
    assert.deepEqual(window.revealed, ['tab', 'towpath.chat.focus']);
  });

  it('a page that floods before anybody listens is not kept for ever', async () => {
    const { window, heard, soon } = start(code);
    const page = window.show();
    for (let at = 0; at < 10_000; at++) page.say(at);
    await soon();
    assert.equal(heard.length, 200);
  });

  it('what nobody asks for is done some time after, where there is a folder for it', async () => {
    const without = start(code);
    await moment();
    assert.deepEqual([without.loads, without.later.size], [[], 0]);
    const { loads, later, soon } = start(code, { files: ['work/.towpath'] });
    await moment();
    assert.deepEqual([...later.values()].map(({ ms }) => ms), [2000]); // biome-ignore format: one line
    await soon();
    assert.deepEqual(loads, ['./main.cjs']);
  });

  it('what is wrong in a line has one answer, which is a command about the worst of it and loads nothing', () => {
    const { window, loads } = start(code);
    const wrong = (line: number, severity: number) => ({ severity, range: { start: { line } } });
    assert.deepEqual(window.fixes([wrong(3, 3)]), [], 'a hint is for the eye');
    const [one, ...others] = window.fixes([wrong(4, 1), wrong(4, 0)]);
    assert.deepEqual(
      [one!.title, one!.diagnostics, one!.command.command, one!.command.arguments],
      ['Fix with Towpath', [wrong(4, 0)], 'towpath.fix', [{ uri: 'a.ts', line: 5 }]],
    );
    assert.deepEqual([others, loads], [[], []]);
  });

  it('lines of the workspace can be asked about where they are selected or something is wrong', () => {
    const { window } = start(code);
    const uri = 'work/a.ts';
    const offers = (diagnostics: unknown[], isEmpty: boolean) =>
      window.fixes(diagnostics, { uri, isEmpty }).map(({ title, kind }) => [title, kind]);
    const wrong = { severity: 0, range: { start: { line: 4 } } };
    assert.deepEqual(offers([], true), []);
    assert.deepEqual(offers([], false), [['Ask Towpath Here…', 'refactor']]);
    const both = [
      ['Fix with Towpath', 'quickfix'],
      ['Ask Towpath Here…', 'quickfix'],
    ];
    assert.deepEqual(offers([wrong], true), both);
    assert.deepEqual(window.fixes([], { isEmpty: false }), [], 'outside of the workspace');
    window.api.workspace.isTrusted = false;
    assert.deepEqual(offers([], false), []);
    assert.deepEqual(offers([wrong], false), both.slice(0, 1));
  });

  it('a rest that cannot be loaded is told once, and no command is silent', async () => {
    const load = () => {
      throw new Error('half a file');
    };
    const { window, soon } = start(code, { load });
    window.show();
    await soon();
    await assert.rejects(async () => window.commands.get('towpath.one')!(), /could not be loaded .*Reload the window/);
    assert.deepEqual(window.errors, ['Towpath could not start. Reload the window, or reinstall it.']);
  });

  it('closes what it has loaded, and loads nothing any more once it is over', async () => {
    const sleeping = start(code);
    await sleeping.end();
    assert.deepEqual([sleeping.later.size, sleeping.loads], [0, []]);
    const leaving = start(code, { files: ['work/.towpath'] });
    await leaving.end();
    await moment();
    assert.deepEqual([leaving.later.size, leaving.loads], [0, []]);
    const awake = start(code);
    awake.window.show();
    await awake.soon();
    await awake.end();
    assert.deepEqual(awake.heard, ['opened', 'closed']);
  });
});

/** Runs the program where the editor, the clock and the rest of Towpath are what a test says. */
function start(code: string, { load = () => {}, files = [], language = 'en', bundle }: Around = {}) {
  const heard: string[] = [];
  const loads: string[] = [];
  const later = new Map<number, { run: () => void; ms: number }>();
  const window = new Window(files);
  Object.assign(window.api, { env: { language }, l10n: { bundle } });
  const main = {
    createTowpath(_: unknown, page: Page) {
      page.listen({
        opened: () => heard.push('opened'),
        closed: () => heard.push('closed'),
        received: (message) => heard.push(String(message)),
        turned: () => heard.push('turned'),
      });
      return {
        run: (name: string, args: unknown[]) => `${name} ran with ${args}`,
        close: async () => void heard.push('closed'),
      };
    },
  };
  const require = (name: string) => {
    if (name === 'vscode') return window.api;
    if (name.startsWith('node:')) return process.getBuiltinModule(name);
    loads.push(name);
    load();
    return main;
  };
  let timers = 0;
  const setTimeout = (run: () => void, ms: number) => {
    timers += 1;
    later.set(timers, { run, ms });
    return timers;
  };
  const clearTimeout = (timer: number) => later.delete(timer);
  const program = { exports: {} as Program };
  const quiet = { error: () => {} };
  new Function('require', 'module', 'setTimeout', 'clearTimeout', 'console', code)(
    require,
    program,
    setTimeout,
    clearTimeout,
    quiet,
  );
  const commands = [{ command: 'towpath.one' }, { command: 'towpath.two' }];
  program.exports.activate({
    subscriptions: [],
    extensionUri: 'towpath:',
    extension: { packageJSON: { contributes: { commands } } },
  });
  return {
    window,
    heard,
    loads,
    later,
    /** What waits for the clock is done. */
    async soon() {
      for (const [timer, { run }] of [...later]) {
        later.delete(timer);
        run();
      }
      await moment();
    },
    end: () => program.exports.deactivate(),
  };
}

/** What the program meets. */
interface Around {
  load?: () => void;
  files?: string[];
  language?: string;
  bundle?: TranslationBundle;
}

interface Program {
  activate(context: unknown): void;
  deactivate(): Promise<void>;
}

interface Page {
  listen(listener: { opened(): void; closed(): void; received(message: unknown): void; turned(): void }): void;
}

interface Fix {
  title: string;
  kind: string;
  diagnostics: unknown;
  command: { command: string; arguments: unknown[] };
}

class CodeAction {
  constructor(
    readonly title: string,
    readonly kind: string,
  ) {}
}

/** As much of the editor as the program knows. */
class Window {
  readonly commands = new Map<string, (...args: unknown[]) => unknown>();
  readonly views: string[] = [];
  readonly errors: string[] = [];
  /** What was brought up: the tab, or by which command. */
  readonly revealed: string[] = [];
  private bulb?: { provideCodeActions(document: unknown, range: unknown, context: unknown): Fix[] };
  private provider?: { resolveWebviewView(view: unknown): void };
  private serializer?: { deserializeWebviewPanel(tab: unknown): void };

  constructor(private readonly files: string[]) {}

  readonly api = {
    CodeAction,
    CodeActionKind: { QuickFix: 'quickfix', Refactor: 'refactor' },
    DiagnosticSeverity: { Information: 2 },
    lm: {},
    languages: {
      registerCodeActionsProvider: (_: unknown, bulb: typeof this.bulb) => {
        this.bulb = bulb;
      },
    },
    workspace: {
      workspaceFolders: [{ uri: 'work' }],
      isTrusted: true,
      getWorkspaceFolder: (uri: string) => (uri.startsWith('work/') ? { uri: 'work' } : undefined),
      fs: {
        stat: async (uri: string) => {
          if (!this.files.includes(uri)) throw new Error('There is no such file.');
        },
      },
    },
    Uri: { joinPath: (...parts: string[]) => parts.join('/') },
    commands: {
      registerCommand: (name: string, run: (...args: unknown[]) => unknown) => this.commands.set(name, run),
      executeCommand: async (name: string) => void this.revealed.push(name),
    },
    window: {
      showErrorMessage: (text: string) => this.errors.push(text),
      registerWebviewViewProvider: (id: string, provider: { resolveWebviewView(view: unknown): void }) => {
        this.views.push(id);
        this.provider = provider;
      },
      registerWebviewPanelSerializer: (id: string, serializer: { deserializeWebviewPanel(tab: unknown): void }) => {
        this.views.push(id);
        this.serializer = serializer;
      },
    },
  };

  /** What the lightbulb offers for these problems. */
  fixes(diagnostics: unknown[], { uri = 'a.ts', isEmpty = true } = {}) {
    return this.bulb!.provideCodeActions({ uri }, { isEmpty }, { diagnostics });
  }

  /** The person opens the panel. */
  show() {
    const { holder, person } = pageOf();
    this.provider!.resolveWebviewView(holder);
    return person();
  }

  /** The editor finds the tab among those of before. */
  bringBack() {
    const { holder, person } = pageOf();
    const dispose = () => {};
    this.serializer!.deserializeWebviewPanel({ ...holder, dispose, reveal: () => this.revealed.push('tab') });
    return person();
  }
}

/** A page as the program has it, and as the person does. */
function pageOf() {
  let say: (message: unknown) => void = () => {};
  let hide = () => {};
  let turn = () => {};
  const webview = {
    html: '',
    cspSource: 'here',
    asWebviewUri: String,
    onDidReceiveMessage: (listener: typeof say) => {
      say = listener;
    },
  };
  const onTurn = (listener: typeof turn) => {
    turn = listener;
  };
  const onDidDispose = (listener: typeof hide) => {
    hide = listener;
  };
  return {
    holder: { webview, visible: true, onDidDispose, onDidChangeVisibility: onTurn, onDidChangeViewState: onTurn },
    person: () => ({
      html: webview.html,
      say: (message: unknown) => say(message),
      hide: () => hide(),
      turn: () => turn(),
    }),
  };
}
