/**
 * Public server that runs without an account and without a network. `package`: with its version, of npm or PyPI; `args`: after the program,
 * in a workspace that is a Git repository with `a.txt`, `b.js` and ESLint's configuration; `calls`: tools and arguments that the server accepts.
 */
export interface PublicServer {
  name: string;
  package: string;
  /** Program in the package: a path below `node_modules`, or the name of a Python script. */
  program: string;
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  calls: readonly (readonly [tool: string, args: Readonly<Record<string, unknown>>])[];
  /** Constraint on the Python SDK: servers of its first version fail with the second. */
  sdk?: string;
}

const folder = '{folder}';

export const npmServers: readonly PublicServer[] = [
  {
    name: 'everything',
    package: '@modelcontextprotocol/server-everything@2026.8.31',
    program: '@modelcontextprotocol/server-everything/dist/index.js',
    calls: [
      ['echo', { message: 'hi' }],
      ['get-sum', { a: 1, b: 2 }],
      ['get-annotated-message', { messageType: 'error' }],
      ['get-structured-content', { location: 'Chicago' }],
      ['get-tiny-image', {}],
      ['get-resource-links', { count: 2 }],
      ['get-resource-reference', {}],
      ['trigger-long-running-operation', { duration: 1, steps: 2 }],
    ],
  },
  {
    name: 'filesystem',
    package: '@modelcontextprotocol/server-filesystem@2026.8.31',
    program: '@modelcontextprotocol/server-filesystem/dist/index.js',
    args: [folder],
    calls: [
      ['read_text_file', { path: `${folder}/a.txt` }],
      ['write_file', { path: `${folder}/new.txt`, content: 'two\n' }],
      ['edit_file', { path: `${folder}/new.txt`, edits: [{ oldText: 'two', newText: 'three' }] }],
      ['list_directory', { path: folder }],
      ['directory_tree', { path: folder }],
      ['search_files', { path: folder, pattern: '*.txt' }],
      ['get_file_info', { path: `${folder}/a.txt` }],
      ['list_allowed_directories', {}],
    ],
  },
  {
    name: 'memory',
    package: '@modelcontextprotocol/server-memory@2026.8.31',
    program: '@modelcontextprotocol/server-memory/dist/index.js',
    env: { MEMORY_FILE_PATH: `${folder}/memory.jsonl` },
    calls: [
      ['create_entities', { entities: [{ name: 'Ada', entityType: 'person', observations: ['writes'] }] }],
      ['add_observations', { observations: [{ entityName: 'Ada', contents: ['reads'] }] }],
      ['search_nodes', { query: 'Ada' }],
      ['read_graph', {}],
    ],
  },
  {
    name: 'sequential-thinking',
    package: '@modelcontextprotocol/server-sequential-thinking@2026.8.31',
    program: '@modelcontextprotocol/server-sequential-thinking/dist/index.js',
    calls: [['sequentialthinking', { thought: 'x', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 }]],
  },
  {
    name: 'playwright',
    package: '@playwright/mcp@0.0.83',
    program: '@playwright/mcp/cli.js',
    args: ['--headless'],
    calls: [], // each needs a browser
  },
  {
    name: 'chrome-devtools',
    package: 'chrome-devtools-mcp@1.11.0',
    program: 'chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js',
    calls: [],
  },
  {
    name: 'eslint',
    package: '@eslint/mcp@0.3.13',
    program: '@eslint/mcp/src/mcp-cli.js',
    calls: [['lint-files', { filePaths: [`${folder}/b.js`] }]],
  },
  {
    name: 'calc',
    package: '@coo-quack/calc-mcp@2.1.1',
    program: '@coo-quack/calc-mcp/dist/index.js',
    calls: [
      ['math', { expression: '1+2*3' }],
      ['hash', { input: 'x', algorithm: 'sha256' }],
      ['base64', { input: 'x', action: 'encode' }],
      ['base', { value: 255, from: 10, to: 16 }],
      ['base', { value: 'ff', from: 16, to: 10 }],
      ['date', { action: 'weekday', date: '2026-01-01' }],
    ],
  },
  {
    name: 'time-npm',
    package: 'time-mcp@1.0.6',
    program: 'time-mcp/dist/index.js',
    calls: [
      ['current_time', { format: 'YYYY-MM-DD' }],
      ['days_in_month', { date: '2026-02-01' }],
    ],
  },
  {
    name: 'pdf',
    package: '@modelcontextprotocol/server-pdf@2.0.4',
    program: '@modelcontextprotocol/server-pdf/dist/index.js',
    args: ['--stdio'],
    calls: [['list_pdfs', {}]],
  },
  {
    name: 'commands',
    package: 'mcp-server-commands@0.5.0',
    program: 'mcp-server-commands/build/index.js',
    calls: [['run_command', { command: 'echo hi' }]],
  },
];

export const pythonServers: readonly PublicServer[] = [
  {
    name: 'git',
    package: 'mcp-server-git==2026.10.19',
    program: 'mcp-server-git',
    args: ['--repository', folder],
    calls: [
      ['git_status', { repo_path: folder }],
      ['git_log', { repo_path: folder, max_count: 1 }],
      ['git_diff_unstaged', { repo_path: folder }],
    ],
  },
  {
    name: 'time',
    package: 'mcp-server-time==2026.10.19',
    program: 'mcp-server-time',
    calls: [
      ['get_current_time', { timezone: 'Europe/Berlin' }],
      ['convert_time', { source_timezone: 'Etc/UTC', time: '12:00', target_timezone: 'Asia/Tokyo' }],
    ],
  },
  { name: 'fetch', package: 'mcp-server-fetch==2026.10.24', program: 'mcp-server-fetch', calls: [] },
  {
    name: 'excel',
    package: 'excel-mcp-server==2.2.2',
    program: 'excel-mcp-server',
    args: ['stdio'],
    calls: [],
  },
  {
    name: 'sqlite',
    package: 'mcp-server-sqlite==2025.4.25',
    program: 'mcp-server-sqlite',
    args: ['--db-path', `${folder}/a.db`],
    sdk: 'mcp<2',
    calls: [
      ['create_table', { query: 'CREATE TABLE t (a INTEGER)' }],
      ['write_query', { query: 'INSERT INTO t VALUES (1)' }],
      ['read_query', { query: 'SELECT * FROM t' }],
      ['list_tables', {}],
      ['describe_table', { table_name: 't' }],
    ],
  },
  {
    name: 'duckdb',
    package: 'mcp-server-duckdb==1.1.0',
    program: 'mcp-server-duckdb',
    args: ['--db-path', `${folder}/a.duckdb`],
    sdk: 'mcp<2',
    calls: [['query', { query: 'SELECT 1 AS one' }]],
  },
  {
    name: 'cli',
    package: 'cli-mcp-server==0.2.5',
    program: 'cli-mcp-server',
    env: { ALLOWED_DIR: folder },
    sdk: 'mcp<2',
    calls: [
      ['run_command', { command: 'ls' }],
      ['show_security_rules', {}],
    ],
  },
  {
    name: 'calculator',
    package: 'mcp-server-calculator==0.2.1',
    program: 'mcp-server-calculator',
    sdk: 'mcp<2',
    calls: [['calculate', { expression: '1+2*3' }]],
  },
];
