/**
 * What leaves this machine: each kind of connection. The page *What leaves this machine* is made from these tables, and a test holds
 * them to the code: whatever in `src` can open a connection, ask a model or start a program is named by a row.
 */

/** A connection that Towpath itself opens. */
export interface Connection {
  /** What it is for. */
  what: string;
  when: string;
  to: string;
  /** What goes there. */
  carries: string;
  /** The files of `src` that open it. */
  by: readonly string[];
}

/** An occasion on which a model is asked. Where that goes is the model's row among the connections. */
export interface Occasion {
  what: string;
  when: string;
  /** Which of the person's models. */
  model: string;
  carries: string;
  /** The files of `src` that ask. */
  by: readonly string[];
}

/** A program that Towpath starts. What it connects to is its own doing. */
export interface Program {
  what: string;
  when: string;
  /** What is known of its connections. */
  connects: string;
  /** The files of `src` that start it. */
  by: readonly string[];
}

const asked = 'When a model of the provider is asked (below)';
const conversation = 'The request (below), and the key and the headers that you gave for that address';

export const connections: readonly Connection[] = [
  {
    what: 'A model on OpenAI’s chat completions: OpenAI, Azure, and everything compatible',
    when: asked,
    to: 'The provider’s address, `POST …/chat/completions`',
    carries: `${conversation}; to OpenAI itself also the run’s id, for its cache`,
    by: ['llm/http.ts', 'llm/openai/chat.ts'],
  },
  {
    what: 'A model on OpenAI’s Responses API',
    when: asked,
    to: 'The provider’s address, `POST …/responses`',
    carries: `${conversation}; to OpenAI itself also the run’s id, for its cache. With \`store: false\`, so that nothing is kept there`,
    by: ['llm/responses/ask.ts'],
  },
  {
    what: 'A model of Anthropic',
    when: asked,
    to: 'The provider’s address, `POST …/v1/messages`',
    carries: conversation,
    by: ['llm/anthropic/client.ts'],
  },
  {
    what: 'A model of Google Gemini',
    when: asked,
    to: 'The provider’s address, `POST …/models/…:streamGenerateContent`',
    carries: conversation,
    by: ['llm/google/client.ts'],
  },
  {
    what: 'A model of Ollama',
    when: `${asked}, and before the first time for what the model can do`,
    to: 'The provider’s address (this machine, unless you say another), `POST …/api/chat`, `POST …/api/show`',
    carries: `${conversation}; for what it can do its name alone`,
    by: ['llm/ollama/client.ts'],
  },
  {
    what: 'The list of a provider’s models',
    when: 'When you connect a model of the provider or enter a key for it, in Doctor, and for the size of the context window: when the panel opens and no size is known, and with the first request of an editor window',
    to: 'The provider’s address, `GET …/models` (Ollama `GET …/api/tags`)',
    carries: 'The key and the headers for that address, and nothing else',
    by: ['llm/openai/client.ts', 'llm/anthropic/client.ts', 'llm/google/client.ts', 'llm/ollama/client.ts'],
  },
  {
    what: 'A model that the editor offers',
    when: 'When such a model is asked (below)',
    to: 'The extension behind the model; the editor asks for your consent first, and keeps the key',
    carries: 'The request (below)',
    by: ['extension/models/editorModels.ts'],
  },
  {
    what: 'Downloading a model',
    when: 'When you ask for one, after a question that says how much, from where and to where; going on when you resume it',
    to: '`huggingface.co` or your `towpath.local.hub`, or the address that you typed, and where these redirect (https only)',
    carries:
      'The model’s name or address. No token, key or cookie, not even one from the environment. What comes is checked against the hub’s SHA-256, where it gives one',
    by: ['llm/local/web.ts', 'llm/local/hub.ts', 'llm/local/download.ts'],
  },
  {
    what: 'Fetching a GPU engine for local models',
    when: 'When *Add GPU Engine…* is told to, after a question that says how much, from where and to where',
    to: '`registry.npmjs.org` or your `towpath.local.engineRegistry`, and where these redirect (https only)',
    carries:
      'The engine’s name and version. No token, key or cookie. What comes must have the sum that Towpath came with',
    by: ['llm/local/gpuEngine.ts'],
  },
  {
    what: 'A web page (`web.fetch`)',
    when: 'When a model asks for it and you allow it (by a question, a rule or a preset)',
    to: 'The site that the question shows; never this machine or a private network, unless `towpath.web.allowPrivate` is on. The name server of the system is asked for its addresses',
    carries: 'The address itself. No cookie, no key',
    by: ['tools/web/fetch.ts', 'tools/web/addresses.ts'],
  },
  {
    what: 'A page of this machine that a command of the run serves (`web.fetch`)',
    when: 'When a model asks for it and you allow the port',
    to: 'A port of this machine on which that command takes connections',
    carries: 'The address itself',
    by: ['tools/web/fetch.ts'],
  },
  {
    what: 'An MCP server behind an address',
    when: 'When a run begins to work, when *MCP Servers…* starts it, and in Doctor: once you have allowed that server',
    to: 'The address in `.vscode/mcp.json` or `towpath.mcp.servers`, which the question shows',
    carries:
      'The headers that are configured for it, Towpath’s name and version, and of each call that you allow its arguments',
    by: ['tools/mcp/http.ts', 'tools/mcp/sdk.ts'],
  },
  {
    what: 'A tool of the editor, of another extension or of the editor’s MCP servers (`vscode.…`)',
    when: 'When a model asks for it and you allow it, once you have switched that tool on in *Tools of the Editor…*',
    to: 'Whoever brings the tool: what it connects to is its own doing. The editor may ask you once more',
    carries: 'The arguments that the question shows',
    by: ['extension/mcp/lent.ts'],
  },
  {
    what: 'A look at a certificate',
    when: 'In Doctor, of a model behind an `https` address',
    to: 'The provider’s address, through your proxy if there is one; the connection is closed before anything is asked',
    carries: 'The name of the host',
    by: ['extension/doctor/issuer.ts'],
  },
  {
    what: 'A link',
    when: 'When you click it in the panel',
    to: 'Its address, in your browser; the editor asks first',
    carries: 'What your browser sends',
    by: ['extension/panel/panel.ts'],
  },
];

export const occasions: readonly Occasion[] = [
  {
    what: 'Your message',
    when: 'At each turn of a run',
    model: 'The one that is picked (`towpath.models`: `work`), or an agent’s own',
    carries:
      'The instructions (with the names of the open folders and what their files say to agents: `AGENTS.md`, `CLAUDE.md` with what it includes, `.github/copilot-instructions.md`, `.github/instructions`, names and purposes of skills), the descriptions of the tools, and the conversation: your words and pictures, the files and other things that you name in them by `@`, what the model said, and what its tools gave (files that it read, output of commands, pages)',
    by: ['engine/loop.ts'],
  },
  {
    what: 'A summary',
    when: 'When a conversation fills the model’s window, and before: from three quarters on, so that it is there by then',
    model: '`small`, else the run’s',
    carries: 'The oldest turns of the conversation',
    by: ['engine/summary.ts'],
  },
  {
    what: 'A run’s name',
    when: 'Once for a run, when `small` is a model behind an endpoint; without it your first words are the name',
    model: '`small`',
    carries: 'What you said first',
    by: ['engine/title.ts'],
  },
  {
    what: 'A step of a workflow',
    when: 'When a workflow that you started comes to it',
    model: 'The one that is picked, or the one that its file names, after your yes to that file and that place',
    carries: 'What the step’s file says, filled in with what steps before it gave; for an agent as for your message',
    by: ['engine/context.ts', 'workflows/action/llm.ts'],
  },
  {
    what: 'A commit message',
    when: 'When you press its button',
    model: '`small`, else the one that is picked',
    carries:
      'The staged changes, else all, and the newest commit messages. Of files that may hold secrets, that your rules keep or that are in no open folder only the names, and of long changes parts',
    by: ['extension/commit/commitMessages.ts'],
  },
  {
    what: 'What the editor’s chat or another extension asks',
    when: 'When they ask a model that you offer (*Offer Models to the Editor…*; none without it); each extension that the editor names after your yes to it',
    model: 'The one that they choose of those',
    carries: 'What they say, with their tools and pictures. Nothing of Towpath’s own',
    by: ['extension/models/answerAsk.ts'],
  },
  {
    what: '*Test Connection*',
    when: 'When you run it, in Doctor, and as the last step of *Connect a Model*, which can be skipped',
    model: 'The one that is picked, or the one to be connected',
    carries: 'One short question of Towpath’s own',
    by: ['extension/models/connection.ts'],
  },
  {
    what: '*Doctor*',
    when: 'When you run it',
    model: 'The one that is picked, and the demo model for the local engine',
    carries: 'A made-up task with one made-up tool; its report stays here',
    by: ['extension/doctor/doctorChecks.ts'],
  },
  {
    what: '*Check This Model*',
    when: 'When you run it, after a question that says how many tokens and minutes that takes',
    model: 'The one that is picked, or the one at which you pressed its button',
    carries:
      'Fifteen small tasks of Towpath’s own with their made-up files, the descriptions of the tools, and what the tools gave. Nothing of your workspace; its result stays here',
    by: ['engine/loop.ts'],
  },
  {
    what: 'A list of models',
    when: 'When you choose among them, and for the size of the picked model’s context window, which is stored on this machine',
    model: 'The provider’s, or the editor’s',
    carries: 'Nothing of yours but the key for it',
    by: ['extension/models/models.ts', 'extension/models/setup.ts'],
  },
];

export const programs: readonly Program[] = [
  {
    what: 'A command of a run (`shell.run`)',
    when: 'When a model asks for it and you allow it (by a question, a rule or a preset)',
    connects: 'To whatever it likes: it runs as you. Secrets of the editor’s environment are not given to it',
    by: ['tools/shell/started.ts'],
  },
  {
    what: 'The terminal that shows what commands print (`towpath.shell.terminal`)',
    when: 'When it is on and a command runs',
    connects: 'To nothing: it only shows',
    by: ['extension/runs/commandTerminal.ts'],
  },
  {
    what: 'A command that only reads (`ls`, `grep`, `git log`, …)',
    when: 'Without a question, unless `towpath.approvals.readOnlyCommands` is off',
    connects: 'To nothing: only options that read this machine are known',
    by: ['tools/shell/vectors.ts'],
  },
  {
    what: 'An MCP server on this machine',
    when: 'As one behind an address: once you have allowed its command line',
    connects: 'To whatever it likes: it runs as you',
    by: ['tools/mcp/stdio.ts', 'tools/mcp/sdk.ts'],
  },
  {
    what: 'A model on this machine',
    when: 'When a local model is asked',
    connects: 'To nothing: its engine is told to neither download nor build',
    by: ['llm/local/modelProcess.ts', 'llm/local/worker.ts'],
  },
  {
    what: 'Search: the editor’s ripgrep',
    when: 'When files are searched or found',
    connects: 'To nothing',
    by: ['tools/files/ripgrep.ts'],
  },
  {
    what: 'Looking after commands: `ps`, `taskkill`, `git config`',
    when: 'When a command is begun, ended or looked for',
    connects: 'To nothing',
    by: ['tools/shell/processes.ts', 'tools/shell/table.ts', 'tools/shell/bareRepositories.ts'],
  },
  {
    what: 'What a command would discard: `git status`, `git ls-files`, `git rev-list`, without hooks, filters or transports',
    when: 'When a command that may discard something is to run',
    connects: 'To nothing',
    by: ['tools/gate/loss/repository.ts'],
  },
  {
    what: 'Your shell, in a terminal of the editor',
    when: '*To Terminal* is pressed at code of a reply, and no terminal is open',
    connects: 'As your shell does. The line is typed there, and not run',
    by: ['extension/panel/useCode.ts'],
  },
  {
    what: '*New Run in a Worktree…*: `git worktree add`, and a window of the editor',
    when: 'When you run it',
    connects: 'To nothing, unless hooks and filters of your repository do',
    by: ['extension/runs/worktree.ts', 'extension/runs/worktrees.ts'],
  },
  {
    what: '*Doctor*: `rg --version`',
    when: 'When you run it',
    connects: 'To nothing',
    by: ['extension/doctor/doctorChecks.ts'],
  },
  {
    what: '*Check This Model*: `sh report.sh` (`cmd /c report.cmd` on Windows), in its own temporary folder',
    when: 'When the model that is checked asks for exactly that; nothing else is run',
    connects: 'To nothing: the file is Towpath’s own, and prints six lines',
    by: ['tools/shell/started.ts'],
  },
  {
    what: 'Checking a model without an editor (`npm run check-model`)',
    when: 'When somebody who has the sources runs it',
    connects:
      'To the model that they name, as the editor does; the key comes from an environment variable that they name',
    by: ['check/run.ts'],
  },
  {
    what: '`npm`, for engines of the local model',
    when: 'When somebody who builds Towpath installs its packages, or asks for a GPU engine (`npm run gpu`)',
    connects: 'To the registry that npm is set up for',
    by: ['llm/local/engines.mjs'],
  },
  {
    what: '`npm` and `vsce`, for packages of Towpath',
    when: 'When somebody who builds Towpath makes its packages (`npm run package`), or its table of prices (`npm run catalogue`)',
    connects: 'For engines of other platforms and for prices, to the registry that npm is set up for',
    by: [
      'vsix/catalogue.ts',
      'vsix/closure.ts',
      'vsix/lockedFolder.ts',
      'vsix/stage.ts',
      'vsix/vsix.ts',
      'vsix/writeCatalogue.ts',
    ],
  },
];
