/**
 * Connections that leave this machine. The page *What leaves this machine* is generated from these tables, and a test compares them with
 * the code: each file in `src` that opens a connection, asks a model or starts a program needs a row.
 */

/** Connection opened by Towpath. `by` lists the files of `src` with the code. */
interface ConnectionRow {
  what: string;
  when: string;
  to: string;
  carries: string;
  by: readonly string[];
}

/** Occasion for a model request. The destination is the model's row among the connections; `by` lists the files of `src` with the code. */
interface Occasion {
  what: string;
  when: string;
  model: string;
  carries: string;
  by: readonly string[];
}

/** Program started by Towpath, with its known connections. `by` lists the files of `src` with the code. */
interface StartedProgram {
  what: string;
  when: string;
  connects: string;
  by: readonly string[];
}

const called = 'When a model of the provider is called (below)';
const conversation = 'The request (below), with the key and the headers for that address';

export const networkConnections: readonly ConnectionRow[] = [
  {
    what: 'OpenAI’s chat completions: OpenAI, Azure and compatible providers',
    when: called,
    to: 'The provider’s address, `POST …/chat/completions`',
    carries: `${conversation}; to OpenAI itself also the run’s id, for its cache`,
    by: ['llm/transport/http.ts', 'llm/openai/chat.ts'],
  },
  {
    what: 'OpenAI’s Responses API',
    when: called,
    to: 'The provider’s address, `POST …/responses`',
    carries: `${conversation}; to OpenAI itself also the run’s id, for its cache. With \`store: false\`: nothing is stored there`,
    by: ['llm/openai/responses/request.ts'],
  },
  {
    what: 'Anthropic',
    when: called,
    to: 'The provider’s address, `POST …/v1/messages`',
    carries: conversation,
    by: ['llm/anthropic/client.ts'],
  },
  {
    what: 'Google Gemini',
    when: called,
    to: 'The provider’s address, `POST …/models/…:streamGenerateContent`',
    carries: conversation,
    by: ['llm/google/client.ts'],
  },
  {
    what: 'Ollama',
    when: `${called}, and once for the capabilities of the model`,
    to: 'The provider’s address (default: this machine), `POST …/api/chat`, `POST …/api/show`',
    carries: `${conversation}; for capabilities the name only`,
    by: ['llm/ollama/client.ts'],
  },
  {
    what: 'The list of a provider’s models',
    when: 'When you connect the provider or enter its key, in Doctor, and for the size of the context window: when the panel opens without a known size, and with the first request of an editor window',
    to: 'The provider’s address, `GET …/models` (Ollama `GET …/api/tags`)',
    carries: 'Only the key and the headers for that address',
    by: ['llm/openai/client.ts', 'llm/anthropic/client.ts', 'llm/google/client.ts', 'llm/ollama/client.ts'],
  },
  {
    what: 'A model of the editor',
    when: 'When it is called (below)',
    to: 'The extension behind the model; the editor asks for your consent first and stores the key',
    carries: 'The request (below)',
    by: ['extension/providers/editorModels.ts'],
  },
  {
    what: 'Downloading a model',
    when: 'When you confirm a dialog with size, source and folder; also when you resume it',
    to: '`huggingface.co` or your `towpath.local.hub`, or your address, and their redirects (https only)',
    carries:
      'The model’s name or address. No token, key or cookie, also none from the environment. The file is checked against the hub’s SHA-256, if it gives one',
    by: ['llm/local/download/fetchRange.ts', 'llm/local/download/modelHub.ts', 'llm/local/download/download.ts'],
  },
  {
    what: 'Downloading a GPU engine for local models',
    when: 'When you confirm the dialog of *Add GPU Engine…* with size, source and folder',
    to: '`registry.npmjs.org` or your `towpath.local.engineRegistry`, and their redirects (https only)',
    carries:
      'The engine’s name and version. No token, key or cookie. The file must have the checksum that is part of Towpath',
    by: ['llm/local/engineInstall/gpuEngine.ts'],
  },
  {
    what: 'A web page (`web.fetch`)',
    when: 'When a model requests it and you allow it (by an approval, a rule or a preset)',
    to: 'The site that the approval shows; this machine and private networks only with `towpath.web.allowPrivate`. The system’s name server resolves the name',
    carries: 'The address. No cookie, no key',
    by: ['tools/web/fetch.ts', 'tools/network/addresses.ts'],
  },
  {
    what: 'A page that a background command of the run serves (`web.fetch`)',
    when: 'When a model requests it and you allow the port',
    to: 'A port of this machine that this command uses',
    carries: 'The address',
    by: ['tools/web/fetch.ts'],
  },
  {
    what: 'A connection of a sandboxed command',
    when: 'When a command in a sandbox connects to a host that you allowed',
    to: 'That host, through your proxy if you have one; private networks and this machine only if you allowed that address. Your system’s name server, or your proxy, resolves the name',
    carries: 'What the command sends',
    by: [
      'tools/commandSandbox/network/proxy.ts',
      'tools/commandSandbox/network/proxyConnection.ts',
      'tools/commandSandbox/network/forwardRequest.ts',
    ],
  },
  {
    what: 'A port of a sandboxed command',
    when: 'When you confirm the dialog of *Open Port…*',
    to: 'A port of this machine that leads to the command, until the command ends; your browser opens it',
    carries: 'What your browser and the command send',
    by: [
      'extension/background/openPort.ts',
      'tools/commandSandbox/network/forwardedPort.ts',
      'tools/commandSandbox/network/namespaceRequests.ts',
    ],
  },
  {
    what: 'A remote MCP server',
    when: 'When a run starts, when *MCP Servers…* starts the server, and in Doctor; only after you allowed the server',
    to: 'The address in `.vscode/mcp.json` or `towpath.mcp.servers`, which the approval shows',
    carries:
      'The configured headers or the token of your sign-in, Towpath’s name and version, on request the names and paths of the open folders, and the arguments of each allowed call, resource and prompt',
    by: ['tools/mcp/transport/http.ts', 'tools/mcp/connection.ts', 'tools/mcp/sdk.ts'],
  },
  {
    what: 'The sign-in to a remote MCP server (OAuth)',
    when: 'When you confirm the dialog of *Sign In…*, which names the site; later when a token ends, and at *Sign Out*',
    to: 'The site that the server names as its sign-in page (https only), and your browser; the browser’s answer comes to the editor or to a port of this machine that is open for at most 5 minutes',
    carries:
      'The server’s address, the permissions that it requests, and Towpath’s name or client ID; later the tokens, to the site that issued them only',
    by: [
      'tools/mcp/oauth/signInFetch.ts',
      'tools/mcp/oauth/loopbackRedirect.ts',
      'extension/mcp/editorRedirect.ts',
      'extension/mcp/signInDialogs.ts',
      'tools/mcp/sdk.ts',
    ],
  },
  {
    what: 'A tool of the editor, of an extension or of the editor’s MCP servers (`vscode.…`)',
    when: 'When a model requests it and you allow it; only tools that you selected in *Editor Tools…*',
    to: 'The provider of the tool, which has its own connections. The editor may ask again',
    carries: 'The arguments that the approval shows',
    by: ['extension/mcp/offeredEditorTools.ts'],
  },
  {
    what: 'A certificate check',
    when: 'In Doctor, for an `https` address',
    to: 'The provider’s address, through your proxy if you have one; the connection is closed before a request',
    carries: 'The host name',
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

export const networkOccasions: readonly Occasion[] = [
  {
    what: 'Your message',
    when: 'At each step of a run',
    model: 'The selected one (`towpath.models`: `work`), or that of the agent',
    carries:
      'The instructions (names of the open folders, `AGENTS.md`, `CLAUDE.md` and its includes, `.github/copilot-instructions.md`, `.github/instructions`, names and descriptions of skills), the tool descriptions, and the conversation: your messages and pictures, context added with `@`, the answers, and the tool results (files, command output, pages)',
    by: ['engine/loop/loop.ts'],
  },
  {
    what: 'A summary',
    when: 'When a conversation fills the context window; prepared in advance from three quarters on',
    model: '`small`, else that of the run',
    carries: 'The oldest steps of the conversation',
    by: ['engine/context/summarize.ts'],
  },
  {
    what: 'A title',
    when: 'Once for each run, if `small` is a provider’s model; otherwise your first message is the title',
    model: '`small`',
    carries: 'Your first message',
    by: ['engine/run/title.ts'],
  },
  {
    what: 'A step of a workflow',
    when: 'When a workflow that you started reaches it',
    model: 'The selected one, or that of its file, after your approval of that file and address',
    carries: 'The text of the step, filled with results of earlier steps; for an agent as for your message',
    by: ['engine/run/runContext.ts', 'workflows/action/llm.ts'],
  },
  {
    what: 'A message to an agent of the repository',
    when: 'At each step of its run, after your consent to the content of its file',
    model: 'The selected one, or that of its file if it is set up here, after the same consent',
    carries:
      'The instructions of its file, and what a message to any agent carries, with the tools that are left to it',
    by: ['engine/run/runContext.ts'],
  },
  {
    what: 'A task for another agent',
    when: 'At each step of a task that the model or you give to an agent',
    model: 'That of its run, or that of the agent’s file if it is set up here, after the consent to the file',
    carries:
      'The instructions of the agent, what a message carries of instructions and tools, the text of the task, and its own answers and tool results. Nothing of the conversation of the run; the report goes to the model of the run',
    by: ['engine/run/runContext.ts'],
  },
  {
    what: 'A commit message',
    when: 'When you click its button',
    model: '`small`, else the selected one',
    carries:
      'The staged changes, else all, and recent commit messages. For secrets, files outside the workspace and files that a rule withholds only the names; parts of long changes',
    by: ['extension/commit/commitMessages.ts'],
  },
  {
    what: 'A request of the editor’s chat or another extension',
    when: 'When they use a model that you share (*Share Models with the Editor…*; none by default), after your approval of each extension that the editor names',
    model: 'The one that they select',
    carries: 'Their messages, tools and pictures. Nothing of Towpath',
    by: ['extension/modelProvider/answerRequest.ts'],
  },
  {
    what: '*Test Connection*',
    when: 'When you run it, in Doctor, and in the last step of *Connect to a Provider…*, which you can skip',
    model: 'The selected one, or the new one',
    carries: 'A short fixed question',
    by: ['extension/models/testConnection.ts'],
  },
  {
    what: '*Doctor*',
    when: 'When you run it',
    model: 'The selected one, and the demo model for the local engine',
    carries: 'A fixed task with one fixed tool; the report stays on this machine',
    by: ['extension/doctor/doctorChecks.ts'],
  },
  {
    what: '*Check This Model*',
    when: 'When you confirm a dialog with the expected tokens and minutes',
    model: 'The selected one, or that of the button',
    carries:
      'Fifteen fixed tasks with their files, the tool descriptions and the tool results. Nothing of your workspace; the result stays on this machine',
    by: ['engine/loop/loop.ts'],
  },
  {
    what: 'A list of models',
    when: 'When you select a model, and for the size of the context window, which is stored on this machine',
    model: 'That of the provider or the editor',
    carries: 'Only its key',
    by: ['extension/models/models.ts', 'extension/models/modelPicker.ts'],
  },
];

export const startedPrograms: readonly StartedProgram[] = [
  {
    what: 'A command of a run (`shell.run`)',
    when: 'When a model requests it and you allow it (by an approval, a rule or a preset)',
    connects:
      'To anything: it runs with your permissions, without the secrets of the editor’s environment. In the sandbox: to hosts that you allowed',
    by: ['tools/shell/spawnCommand.ts'],
  },
  {
    what: '`bwrap`, and in it a program of Towpath that leads the connections of sandboxed commands to Towpath',
    when: 'When a run starts commands in a sandbox (Linux)',
    connects: 'To Towpath only, by a Unix socket',
    by: [
      'tools/commandSandbox/network/namespace.ts',
      'tools/commandSandbox/network/forwarder.ts',
      'tools/commandSandbox/network/machineServices.ts',
    ],
  },
  {
    what: '`nsenter`, `unshare`, `mount`, `bwrap`, `find`, `chmod` and `rm` for a sandboxed command and for what it has changed',
    when: 'When a command runs in the sandbox, and after it, for the next one; once per window for its test',
    connects: 'To nothing. The test tries to connect to a port of this machine, which must fail',
    by: [
      'tools/commandSandbox/linux/preparedStart.ts',
      'tools/commandSandbox/linux/overlayNamespace.ts',
      'tools/commandSandbox/linux/commandFolder.ts',
      'tools/commandSandbox/linux/testSandbox.ts',
    ],
  },
  {
    what: '`sandbox-exec` for a sandboxed command (macOS, preview)',
    when: 'When a command runs in the sandbox; once per window for its test',
    connects: 'As for a command. The test tries to connect to a port of this machine, which must fail',
    by: ['tools/commandSandbox/macos/macSandbox.ts', 'tools/commandSandbox/macos/testMacSandbox.ts'],
  },
  {
    what: '`sh` for a test if commands can have limits of their own, and `renice`',
    when: 'Once per window, before the first sandboxed command; when one has hundreds of processes',
    connects: 'To nothing',
    by: ['tools/commandSandbox/linux/limits/limitedCommands.ts'],
  },
  {
    what: '`git ls-files`',
    when: 'When a sandboxed command has changed the index of a repository',
    connects: 'To nothing',
    by: ['tools/commandSandbox/gitContents.ts'],
  },
  {
    what: 'The terminal with the output of commands (`towpath.shell.terminal`)',
    when: 'When it is on and a command runs',
    connects: 'To nothing: it is read-only',
    by: ['extension/background/commandTerminal.ts'],
  },
  {
    what: 'A read-only command (`ls`, `grep`, `git status`, …)',
    when: 'Without approval, unless `towpath.approvals.readOnlyCommands` is off',
    connects: 'To nothing: only options without a connection are allowed',
    by: ['tools/shell/argvPipeline.ts'],
  },
  {
    what: 'A local MCP server',
    when: 'As a remote one, after you allowed its command line',
    connects: 'To anything: it runs with your permissions. In the sandbox: to hosts that you allow',
    by: ['tools/mcp/transport/stdio.ts', 'tools/mcp/sdk.ts'],
  },
  {
    what: 'A local model',
    when: 'When it is called',
    connects: 'To nothing: its engine may not download or build',
    by: ['llm/local/host/modelProcess.ts', 'llm/local/worker/worker.ts'],
  },
  {
    what: 'Search: the editor’s ripgrep',
    when: 'When files are searched',
    connects: 'To nothing',
    by: ['tools/search/ripgrep.ts'],
  },
  {
    what: 'Command management: `ps`, `taskkill`, `git config`',
    when: 'When a command starts, stops or is searched for',
    connects: 'To nothing',
    by: ['tools/shell/processes.ts', 'tools/shell/processTable.ts', 'tools/shell/bareRepositories.ts'],
  },
  {
    what: 'Input of a command: `perl`, which prepares its terminal and starts your shell, and `stty`',
    when: 'Before a command, and when it waits for input (Linux)',
    connects: 'To nothing',
    by: ['tools/commandInput/terminal.ts'],
  },
  {
    what: 'Losses of a command: `git status`, `git ls-files`, `git rev-list`, without hooks, filters or transports',
    when: 'Before a command that may discard something',
    connects: 'To nothing',
    by: ['tools/commands/loss/repository.ts'],
  },
  {
    what: 'Recording of files: `git ls-files`, `git diff-files`, `git check-ignore`, `git check-attr`, `git cat-file`, `git config`, `git rev-parse`, `git for-each-ref`, `git rev-list`; an undo: `git update-ref`, `git symbolic-ref`; without hooks, filters or transports',
    when: 'Before and after a command, and a tool of a server or of the editor that may change files',
    connects: 'To nothing',
    by: ['tools/snapshot/gitFiles.ts'],
  },
  {
    what: 'Your shell, in a terminal of the editor',
    when: 'When you click *Insert into Terminal* and no terminal is open',
    connects: 'As your shell does. The line is inserted, not run',
    by: ['extension/panel/codeActions.ts'],
  },
  {
    what: '*Run in a Worktree…*: `git worktree add`, and a window of the editor; *Manage Storage…* and *Keep as Branch*: `git worktree remove`; *Merge Back*: `git merge`',
    when: 'When you run it; the removal also for a worktree that was not used for 30 days',
    connects: 'To nothing, unless hooks and filters of your repository do',
    by: ['extension/worktrees/worktree.ts', 'extension/runs/worktrees.ts'],
  },
  {
    what: 'State of a worktree: `git rev-parse`, `git worktree list`, `git status`, `git ls-files`, `git for-each-ref`, `git stash list`, `git rev-list`, `git log`, `git merge-tree`, `git check-ignore`; without hooks or transports',
    when: 'When a worktree is created, before one is removed or merged, and in *Manage Storage…*',
    connects: 'To nothing, unless filters of your repository do',
    by: ['extension/worktrees/checkout.ts'],
  },
  {
    what: '*Doctor*: `rg --version`',
    when: 'When you run it',
    connects: 'To nothing',
    by: ['extension/doctor/doctorChecks.ts'],
  },
  {
    what: '*Check This Model*: `sh report.sh` (`cmd /c report.cmd` on Windows), in its own temporary folder',
    when: 'When the checked model requests exactly this command',
    connects: 'To nothing: the file is part of Towpath and prints six lines',
    by: ['tools/shell/spawnCommand.ts'],
  },
  {
    what: 'Checking a model without an editor (`npm run check-model`)',
    when: 'When a developer runs it',
    connects: 'To the given model, as the editor does; the key comes from a given environment variable',
    by: ['check/cli.ts'],
  },
  {
    what: '`npm`, for engines of the local model',
    when: 'When a developer installs packages, or a GPU engine (`npm run gpu`)',
    connects: 'To the registry of npm’s configuration',
    by: ['build/engines.mjs'],
  },
  {
    what: '`npm` and `vsce`, for packages of Towpath',
    when: 'When a developer builds packages (`npm run package`) or the table of prices (`npm run catalog`)',
    connects: 'To the registry of npm’s configuration, for engines of other platforms and prices',
    by: [
      'build/catalog.ts',
      'build/closure.ts',
      'build/lockedFolder.ts',
      'build/stage.ts',
      'build/vsix.ts',
      'build/writeCatalog.ts',
    ],
  },
];
