import type { AgentAbility } from '../../../src/workflows/agents/agentAbilities.ts';

/**
 * Agent files of public repositories, re-made: the keys, their order of magnitude and their notation are those of the file in `of`, the
 * words are ours. `can`: what the agent may do at most; `unknown`: names that grant nothing; `ignored`: permissions that are requested in
 * vain; `not`: keys without an effect.
 */
export interface PublicAgent {
  of: string;
  file: string;
  head: string;
  can: readonly AgentAbility[] | 'all';
  models?: readonly string[];
  unknown?: readonly string[];
  ignored?: number;
  asks?: true;
  not?: string;
  loose?: true;
}

const review = '.claude/agents/code-reviewer.md';
const debug = '.claude/agents/debugger.md';
const copilot = '.github/agents/code-reviewer.agent.md';
const tests = '.github/agents/test-specialist.md';
const docs = '.opencode/agent/docs.md';
const open = '.opencode/agent/review.md';
const opens = '.opencode/agents/code-reviewer.md';
const [looks, runs, works] = [['read'], ['read', 'run'], ['read', 'change', 'run']] as const;

export const publicAgents: readonly PublicAgent[] = [
  {
    of: '0xMiden/protocol',
    file: review,
    head: 'name: code-reviewer\ndescription: Looks at a diff with fresh eyes.\nmodel: opus\neffort: max\ntools: Read, Grep, Glob, Bash\nmaxTurns: 15',
    can: runs,
    models: ['opus'],
  },
  {
    of: '21st-dev/1code',
    file: review,
    head: 'name: code-reviewer\ndescription: Finds regressions.\ntools: Read, Glob, Grep, Bash\nmodel: sonnet',
    can: runs,
    models: ['sonnet'],
  },
  { of: '2SSK/dot-files', file: review, head: 'name: code-reviewer\ndescription: Reviews changes.', can: 'all' },
  {
    of: '40docs/demo_claude_code',
    file: review,
    head: 'name: code-reviewer\ndescription: Use PROACTIVELY after changes. NOT for typos.\ntools: Read, Grep, Glob, Bash\nmodel: sonnet',
    can: runs,
    models: ['sonnet'],
  },
  {
    of: '1natsu172/dotfiles',
    file: review,
    head: "name: code-reviewer\ndescription: Use this for new code. Examples: <example>Context: A function is done. user: 'Look at it' assistant: 'I look.'</example>\nmodel: inherit\ncolor: green",
    can: 'all',
    loose: true,
  },
  {
    of: 'AgentWorkforce/relay',
    file: debug,
    head: 'name: debugger\nmodel: claude-sonnet-4\ndescription: Finds causes.\ntools: Read, Write, Edit, Grep, Glob, Bash, WebSearch, WebFetch\nskills: using-relay',
    can: ['read', 'change', 'run', 'web'],
    models: ['claude-sonnet-4'],
    unknown: ['WebSearch'],
    not: 'skills',
  },
  {
    of: 'AccumulateNetwork/accumulate',
    file: debug,
    head: 'name: debugger\ndescription: Proves a cause.\nmodel: opus\ntools: ["*"]',
    can: 'all',
    models: ['opus'],
  },
  {
    of: 'C360Studio/semteams',
    file: debug,
    head: 'name: debugger\ndescription: Investigates failures.\nmodel: sonnet\ncolor: orange',
    can: 'all',
    models: ['sonnet'],
  },
  {
    of: 'BudnikOleksii/supertool',
    file: debug,
    head: "name: debugger\ndescription: 'Diagnoses and fixes.'\ntools: Read, Write, Edit, Bash, Glob, Grep\nmodel: sonnet",
    can: works,
    models: ['sonnet'],
  },
  {
    of: 'Bohdan-Ta/claude-workspace',
    file: debug,
    head: 'name: debugger\ndescription: Traces causes.\ntools: Read, Grep, Glob, Bash, Edit\nmodel: sonnet',
    can: works,
    models: ['sonnet'],
  },
  {
    of: 'AdamWyatt34/Modulus',
    file: debug,
    head: 'name: debugger\ndescription: |\n  Looks into generators and tests\ntools: Read, Edit, Bash, Grep, Glob\nmodel: sonnet\nskills: csharp, xunit, roslyn',
    can: works,
    models: ['sonnet'],
    not: 'skills',
  },
  {
    of: 'AratKruglik/claude-laravel',
    file: debug,
    head: 'name: debugger\ndescription: "Finds causes.\\n\\n<example>\\nuser: \\"It fails\\" / \\"Падає\\"\\n</example>"\nmodel: sonnet\ncolor: red\ntools:\n  - Read\n  - Glob\n  - Grep\n  - Edit\n  - Write\n  - Bash\n  - SendMessage',
    can: works,
    models: ['sonnet'],
    unknown: ['SendMessage'],
  },
  {
    of: 'BobG1983/breaker',
    file: debug,
    head: 'name: debugger\ndescription: "Ranks hypotheses."\ntools: Read, Glob, Grep, Bash, WebFetch, WebSearch, Write, Edit\nmodel: opus\ncolor: red\nmemory: project',
    can: ['read', 'change', 'run', 'web'],
    models: ['opus'],
    unknown: ['WebSearch'],
    not: 'memory',
  },
  {
    of: 'Antonio20045/programme',
    file: debug,
    head: 'name: debugger\ndescription: Runs code and never guesses.\ntools: Read, Write, Edit, Bash, Grep, Glob\nmodel: inherit',
    can: works,
  },
  {
    of: '0xkayne/vibe-coding-template',
    file: review,
    head: 'name: code-reviewer\ndescription: >\n  Reports and changes nothing.\nallowed-tools:\n  - Read\n  - Grep\n  - Glob\n  - Bash(git diff*)',
    can: looks,
    unknown: ['Bash(git diff*)'],
  },
  {
    of: 'Azure/missionlz',
    file: '.github/agents/speckit.plan.agent.md',
    head: 'description: Writes a plan.\nhandoffs: \n  - label: Create Tasks\n    agent: speckit.tasks\n    prompt: Split it\n    send: true',
    can: 'all',
    not: 'handoffs',
  },
  {
    of: 'DEFRA/fmp-app',
    file: copilot,
    head: 'description: Reviews by criteria\ntools: [codebase, fetch, findTestFiles, githubRepo, problems, usages, thinking]',
    can: ['read', 'web'],
    unknown: ['findTestFiles', 'githubRepo', 'thinking'],
  },
  {
    of: '7Spade/Xuanwu',
    file: copilot,
    head: "name: Code Reviewer Agent\ndescription: 'Code Reviewer Agent: looks at style.'\nargument-hint: 'The changes.'\ntools: ['read', 'search', 'web', 'agent', 'todo']",
    can: ['read', 'web'],
    unknown: ['agent'],
  },
  {
    of: 'ALCops/Analyzers',
    file: copilot,
    head: 'name: code-reviewer\ndescription: Builds and tests.\ntools:\n  - read\n  - search\n  - execute\nmodel: claude-opus-4.6',
    can: runs,
    models: ['claude-opus-4.6'],
  },
  {
    of: 'CaoMeiYouRen/momei',
    file: copilot,
    head: 'name: Code Reviewer (代码审查者)\ndescription: 负责审查。',
    can: 'all',
  },
  {
    of: 'Crispy13/VarDict_RS',
    file: copilot,
    head: "description: \"Reviews ports.\"\ntools: [read, search, execute, edit, web]\nmodel: ['Claude Opus 4.6 (fast mode) (Preview) (copilot)','Claude Opus 4.6 (copilot)',]\nuser-invocable: false",
    can: ['read', 'change', 'run', 'web'],
    models: ['Claude Opus 4.6 (fast mode) (Preview)', 'Claude Opus 4.6'],
  },
  {
    of: 'Arasz/pi-mcp-tools',
    file: copilot,
    head: 'description: Review of quality. Reviews\n  diffs and suggests.\nname: code-reviewer\ntools:\n- read\n- search\nuser-invocable: true',
    can: looks,
  },
  {
    of: 'FlexMeasures/flexmeasures',
    file: tests,
    head: 'name: test-specialist\ndescription: Cares for tests only',
    can: 'all',
  },
  {
    of: 'microsoft/durabletask-go',
    file: tests,
    head: 'name: Test Specialist\ndescription: >\n  Writes tests for\n  replay.',
    can: 'all',
  },
  {
    of: 'matt-riley/mjrwtf',
    file: tests,
    head: 'name: test-specialist\ndescription: Knows Go\ntools: ["read", "search", "edit", "shell"]',
    can: works,
  },
  {
    of: 'github/awesome-copilot',
    file: '.github/agents/comet-opik.agent.md',
    head: "name: comet-opik\ndescription: Looks at traces.\ntools: ['read', 'search', 'edit', 'shell', 'opik/*']\nmcp-servers:\n  opik:\n    type: 'local'\n    command: 'npx'\n    args:\n      - '-y'\n      - 'opik-mcp'\n    env:\n      KEY: SECRET\n    tools: ['*']",
    can: ['read', 'change', 'run', 'mcp'],
    not: 'mcp-servers',
  },
  { of: 'cloudflare/cloudflare-docs', file: docs, head: 'description: ALWAYS use this for docs', can: 'all' },
  { of: 'anomalyco/opencode', file: docs, head: 'description: Writes docs\ncolor: "#38A3EE"', can: 'all' },
  {
    of: 'befrvnk/nixos-config',
    file: docs,
    head: 'description: Keeps decisions\nmodel: anthropic/claude-haiku-3.5\ntemperature: 0.3\nmaxTokens: 8000',
    can: 'all',
    models: ['anthropic/claude-haiku-3.5'],
  },
  {
    of: 'moq-dev/moq',
    file: open,
    head: 'description: >-\n  Reviews a pull request.\nmode: all\nmodel: model_api/muse\ntools:\n  read: true\n  grep: true\n  glob: true\n  list: true\n  bash: true\n  write: false\n  edit: false\n  patch: false\n  webfetch: false\n  task: false\npermission:\n  edit: deny\n  webfetch: deny\n  bash:\n    "git diff*": allow\n    "git log*": allow\n    "*": deny',
    can: ['read', 'mcp'],
    models: ['model_api/muse'],
    ignored: 2,
  },
  {
    of: 'SAP/e-mobility-charging-stations-simulator',
    file: open,
    head: 'description: Reviews code\nmode: subagent\ntemperature: 0.1\ntools:\n  write: false\n  edit: false\n  bash: false',
    can: ['read', 'web', 'mcp'],
  },
  {
    of: 'jwadow/kiro-openai-gateway',
    file: open,
    head: 'description: Looks only\nmode: subagent\ntemperature: 0.1\nsteps: 40\ntools:\n  edit: false\n  write: false\n  memory-update: false\n  observation: false\n  todowrite: false\n  question: false\npermission:\n  bash:\n    "*": allow\n    "rm*": deny\n    "git push*": deny',
    can: ['read', 'run', 'web', 'mcp'],
    ignored: 1,
    asks: true,
  },
  {
    of: 'kleverhq/wavepeek',
    file: open,
    head: 'description: >-\n  A focused look\n  at new code.\n\nmode: subagent\ntools:\n  write: false\n  edit: false\n  task: false',
    can: ['read', 'run', 'web', 'mcp'],
  },
  {
    of: 'AztecProtocol/chicmoz',
    file: opens,
    head: 'description: Reviews by our conventions. Read-only.\nmode: subagent\ntools:\n  write: false\n  edit: false\n  bash: false',
    can: ['read', 'web', 'mcp'],
  },
  {
    of: 'Christoph-D/pebbles',
    file: opens,
    head: 'description: Code reviewer\nmode: subagent\ntools:\n  write: false\n  edit: false\npermission:\n  edit: deny\n  write: deny\n  bash:\n    "grep *": allow\n    "git *": allow\n    "*": deny\n  webfetch: ask',
    can: ['read', 'web', 'mcp'],
    ignored: 2,
    asks: true,
  },
  {
    of: 'CybLow/paginate',
    file: opens,
    head: 'description: Reviews quality.\nmode: subagent\nmodel: github-copilot/claude-opus-4.5\ntemperature: 0.1\npermission:\n  edit: deny\n  bash: deny\n  webfetch: allow\ntools:\n  edit: false\n  write: false\n  bash: false',
    can: ['read', 'web', 'mcp'],
    models: ['github-copilot/claude-opus-4.5'],
    ignored: 1,
  },
  {
    of: 'Harvey-AU/adapt',
    file: opens,
    head: 'description:\n  Use it to review\n  changes.\nmode: subagent\ntools:\n  read: true\n  grep: true\n  glob: true\n  write: false\n  edit: false\n  bash: false',
    can: ['read', 'web', 'mcp'],
  },
  {
    of: 'GiveMe-A-Name/smart-agent',
    file: opens,
    head: 'description: |\n  Reviews code.\nmode: subagent\ndirect_communication: true\ncommunication_partner: explorer\ntools:\n  read: true\n  grep: true\n  glob: true',
    can: 'all',
  },
  {
    of: 'uncscode/particula',
    file: docs,
    head: 'description: >-\n  Updates the guides.\n  \n  Write permissions:\n  - docs/*.md\nmode: subagent\ntools:\n  adw_spec: true\n  read: true\n  edit: true\n  write: true\n  glob: true\n  grep: true\n  bash: true\n  todowrite: true',
    can: 'all',
    unknown: ['adw_spec'],
  },
  {
    of: 'Aureliolo/synthorg',
    file: opens,
    head: 'description: "General review: correctness, clarity"\nmode: subagent\nmodel: ollama-cloud/minimax-m2.5:cloud\npermission:\n  Read: allow\n  Grep: allow\n  Glob: allow',
    can: 'all',
    models: ['ollama-cloud/minimax-m2.5:cloud'],
    ignored: 3,
  },
  { of: 'kjanat/github-labelmanager', file: docs, head: 'description: Writes docs of labels', can: 'all' },
];
