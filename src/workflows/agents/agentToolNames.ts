import { userQuestionToolName } from '../../protocol/content/askTool.ts';
import { toolNames } from '../../tools/definitions/definitions.ts';
import { matchesToolPattern } from '../action/toolSpecs.ts';
import type { AgentFormat } from './agentLocations.ts';

// Names of tools in agent files: https://code.claude.com/docs/en/sub-agents, https://code.visualstudio.com/docs/agent-customization and
// https://opencode.ai/docs/agents. A name grants only the tools here that do the same.

const reading = ['fs.read', 'output.read'];
const finding = ['fs.find', 'fs.list'];
const searching = ['fs.search', 'fs.find', 'fs.list'];
const changing = ['fs.edit', 'fs.write', 'fs.apply_patch'];
const commands = ['shell.run', 'shell.stop', 'output.read'];
const navigating = ['code.definition', 'code.references', 'code.symbols'];
/** Tools that are neither granted by a name of their own nor left over after a denial of changes. */
const moving = ['fs.apply_patch', 'fs.move', 'fs.delete'];

const granted = new Map<string, readonly string[]>([
  ...group(reading, 'read notebookread view viewimage readfile read/readfile read/getnotebooksummary'),
  ...group(['fs.list'], 'ls list listdirectory search/listdirectory'),
  ...group(finding, 'glob find filesearch search/filesearch'),
  ...group(['fs.search'], 'grep textsearch search/textsearch'),
  ...group(searching, 'search codebase search/codebase'),
  ...group(navigating, 'lsp usages search/usages'),
  ...group(['code.diagnostics'], 'problems read/problems'),
  ...group(['fs.edit'], 'edit multiedit notebookedit editnotebook edit/editnotebook'),
  ...group(['fs.write'], 'write create createfile edit/createfile'),
  ...group(['fs.apply_patch'], 'patch apply_patch'),
  ...group(changing, 'editfiles edit/editfiles'),
  ...group(commands, 'bash shell powershell execute terminal runcommands runinterminal execute/runinterminal'),
  ...group(['output.read'], 'bashoutput getterminaloutput execute/getterminaloutput'),
  ...group(['shell.stop'], 'killshell killbash'),
  ...group(['web.fetch'], 'webfetch fetch web web/fetch'),
  ...group(['plan.update'], 'todo todos todowrite todoread taskcreate taskupdate tasklist'),
  ...group([userQuestionToolName], 'askuserquestion question vscode/askquestions'),
]);

const denied = new Map<string, readonly string[]>([
  ...group(['fs.write', ...moving], 'write create createfile edit/createfile'),
  ...group(['fs.edit', ...moving], 'edit multiedit patch apply_patch'),
  ...group([...changing, ...moving], 'editfiles edit/editfiles'),
  ...group(['shell.run', 'shell.stop'], 'bash shell powershell execute terminal runcommands'),
]);

/** Returns the tools here that a name of an agent file grants; undefined if the name means none. `*` grants all. */
export function grantedTools(name: string, format: AgentFormat): readonly string[] | undefined {
  const wanted = name.trim().toLowerCase();
  if (wanted === '*') return ['*'];
  if (format === 'github' && wanted === 'edit') return changing; // the alias covers editing and creating files
  return granted.get(wanted) ?? ownTools(name) ?? mcpPattern(name, format);
}

/** Returns the tools here that an agent loses with a name; a name without a counterpart may be a tool of an MCP server. */
export function deniedTools(name: string, format: AgentFormat): readonly string[] {
  const wanted = name.trim().toLowerCase();
  if (wanted === '*') return ['*'];
  const known = denied.get(wanted) ?? granted.get(wanted) ?? ownTools(name) ?? mcpPattern(name, format);
  return known ?? (/[_*]/.test(wanted) && !noTools.has(wanted) ? [`mcp.${wanted}`] : []);
}

/** Permissions of opencode that are about no tool. */
const noTools = new Set(['external_directory', 'doom_loop']);

/** Permission keys of opencode; `edit` covers every change of a file. */
export const deniedByPermission = (key: string): readonly string[] =>
  key.trim().toLowerCase() === 'edit' ? [...changing, ...moving] : deniedTools(key, 'opencode');

function ownTools(name: string): readonly string[] | undefined {
  const pattern = name.trim();
  if (/^mcp\.(?!\.)./.test(pattern)) return [pattern];
  const tools = toolNames().filter((tool) => matchesToolPattern(pattern, tool));
  return tools.length > 0 && pattern.includes('.') ? tools : undefined;
}

/** Returns the pattern of a tool of an MCP server: `mcp__server__tool` of Claude Code, `server/tool` of VS Code and GitHub. */
function mcpPattern(name: string, format: AgentFormat): readonly string[] | undefined {
  const [, claudeServer, claudeTool = '*'] = /^mcp__(.+?)(?:__(.+))?$/.exec(name.trim()) ?? [];
  if (claudeServer !== undefined) return [`mcp.${claudeServer}.${claudeTool}`];
  const [, server, tool] = (format === 'github' && /^([\w-]+)\/([\w-]+|\*)$/.exec(name.trim())) || [];
  return server === undefined || builtInSets.has(server.toLowerCase()) ? undefined : [`mcp.${server}.${tool}`];
}

/** Tool sets of VS Code, whose tools have the form of an MCP server's. */
const builtInSets = new Set(['agent', 'browser', 'edit', 'execute', 'read', 'search', 'todo', 'vscode', 'web']);

function group(tools: readonly string[], names: string): [name: string, tools: readonly string[]][] {
  return names.split(' ').map((name) => [name, tools]);
}
