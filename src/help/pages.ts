/** Help page: file name without `.md`, heading, and a description for the list of pages. */
interface HelpPage {
  name: string;
  title: string;
  about: string;
}

/** All help pages in display order. */
export const helpPageList = [
  {
    name: 'coming-from',
    title: 'Coming from Copilot, Claude Code or Cursor',
    about: 'Approvals, keys and terms compared',
  },
  { name: 'models', title: 'Models', about: 'The demo model, models on this machine, endpoints, keys, GPUs' },
  {
    name: 'llama-server',
    title: 'A shared llama-server',
    about: 'A server for a team: what it is sent, what it stores, which limits to set',
  },
  { name: 'vllm', title: 'A shared vLLM', about: 'The same for vLLM' },
  { name: 'ollama', title: 'A shared Ollama', about: 'The same for Ollama' },
  { name: 'approvals', title: 'Approvals', about: 'Approvals, presets, rules, commands, and what always asks' },
  { name: 'sandbox', title: 'Sandbox', about: 'Commands without approval: what the sandbox protects, and what not' },
  {
    name: 'runs',
    title: 'Runs',
    about: 'Stop and pause, background commands, a full context window, the log, insights, export',
  },
  { name: 'tasks', title: 'Tasks', about: 'Work for other agents: who, with what limits, how to watch and stop it' },
  { name: 'changes', title: 'Changes', about: 'How files are edited and written, undo, commit messages' },
  {
    name: 'instructions',
    title: 'Instructions',
    about: 'AGENTS.md, CLAUDE.md, Copilot’s instructions, skills: what is read, when, how much; Import…',
  },
  { name: 'privacy', title: 'What leaves this machine', about: 'Every connection: when, to where, with what' },
  { name: 'audit', title: 'Audit', about: 'A record of requests, approvals and actions, for others' },
  { name: 'mcp', title: 'MCP servers', about: 'Tools of servers: configuring, trusting, changed tools' },
  { name: 'workflows', title: 'Workflows', about: 'How to write one, with every action and tool' },
  { name: 'packages', title: 'Workflow packages', about: 'Micro-file packages: folders and .bmad archives' },
  { name: 'settings', title: 'Settings and commands', about: 'Every setting with its default, and every command' },
  { name: 'developing', title: 'Developing Towpath', about: 'Building, testing and measuring Towpath' },
] as const satisfies readonly HelpPage[];

export type HelpPageName = (typeof helpPageList)[number]['name'];
