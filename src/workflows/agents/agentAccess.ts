import { message } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import type { AgentFormat } from './agentLocations.ts';
import { deniedByPermission, deniedTools, grantedTools } from './agentToolNames.ts';

/** Access of an agent as its file narrows it. `allow` undefined: what the user permits; `asks`: grants and presets do not apply. */
export interface AgentAccess {
  tools: { allow?: string[]; deny: string[] };
  isReadOnly: boolean;
  asks: boolean;
  unknownTools: string[];
  notes: LocalizableText[];
}

type Header = Readonly<Record<string, unknown>>;

/** Reads the access of an agent. Unknown names grant nothing, and a permission that the file requests is ignored. */
export function readAgentAccess(header: Header, format: AgentFormat): AgentAccess {
  const access: AgentAccess = { tools: { deny: [] }, isReadOnly: false, asks: false, unknownTools: [], notes: [] };
  for (const key of ['tools', 'allowed-tools']) if (Object.hasOwn(header, key)) readTools(header[key], format, access);
  for (const name of namesIn(header.disallowedTools)) access.tools.deny.push(...deniedTools(name, format));
  for (const key of ['permission', 'permissions']) if (Object.hasOwn(header, key)) readPermissions(header[key], access);
  const { permissionMode: mode } = header;
  if (mode === 'plan' || header.readOnly === true) access.isReadOnly = true;
  else if (mode !== undefined && mode !== 'default') access.notes.push(ignored(`permissionMode: ${shown(mode)}`));
  return access;
}

function readTools(value: unknown, format: AgentFormat, access: AgentAccess): void {
  if (!isMap(value)) {
    grantOnly(access, namesIn(value), format);
    return;
  }
  // opencode: a tool is on unless the map turns it off
  const entries = Object.entries(value).filter(([name]) => name !== '*');
  const on = entries.flatMap(([name, isOn]) => (isOn === true ? [name] : []));
  if (value['*'] !== undefined && value['*'] !== true) grantOnly(access, on, format);
  else access.unknownTools.push(...on.filter((name) => grantedTools(name, format) === undefined));
  for (const [name, isOn] of entries) if (isOn !== true) access.tools.deny.push(...deniedTools(name, format));
}

interface PermissionRule {
  action: string;
  resource: string;
  effect: unknown;
}

function readPermissions(value: unknown, access: AgentAccess): void {
  const rules = permissionRules(value);
  const isWhole = ({ resource }: PermissionRule) => resource === '*';
  const deniesAll = rules.some((rule) => rule.action === '*' && isWhole(rule) && rule.effect === 'deny');
  if (deniesAll) {
    const allowed = rules.filter((rule) => rule.action !== '*' && isWhole(rule) && rule.effect === 'allow');
    grantOnly(access, namesIn(allowed.map(({ action }) => action)), 'opencode');
  }
  for (const rule of rules) {
    const { action, resource, effect } = rule;
    if (effect === 'allow') {
      const label = isWhole(rule) ? action : `${action} ${resource}`;
      if (!deniesAll || !isWhole(rule)) access.notes.push(ignored(`${label}: allow`));
    } else if (effect !== 'deny' || !isWhole(rule)) {
      access.asks = true; // a part of a tool cannot be taken away: the user decides on each call
    } else if (action !== '*') access.tools.deny.push(...deniedByPermission(action));
  }
}

/** Rules of both forms of opencode: a map by action, and a list of `action`, `resource` and `effect`. */
function permissionRules(value: unknown): PermissionRule[] {
  if (Array.isArray(value))
    return value.map((one) => {
      const { action = '*', resource = '*', effect } = Object(one);
      return { action: shown(action), resource: shown(resource), effect };
    });
  if (!isMap(value)) return [{ action: '*', resource: '*', effect: value }];
  return Object.entries(value).flatMap(([action, rule]) =>
    isMap(rule)
      ? Object.entries(rule).map(([resource, effect]) => ({ action, resource, effect }))
      : [{ action, resource: '*', effect: rule }],
  );
}

/** Keeps the tools that the names grant, of those that are left. */
function grantOnly({ tools, unknownTools }: AgentAccess, names: readonly string[], format: AgentFormat): void {
  const allow = names.flatMap((name) => {
    const granted = grantedTools(name, format);
    if (granted === undefined) unknownTools.push(name);
    return granted ?? [];
  });
  if (allow.includes('*')) return;
  tools.allow = tools.allow === undefined ? [...new Set(allow)] : tools.allow.filter((tool) => allow.includes(tool));
}

const ignored = (permission: string) =>
  message('The file requests “{0}”. Files cannot permit anything, so this is ignored.', permission);

/** Returns the names of a list, or of a text with commas outside of parentheses: `Read, Bash(git log, git diff)`. */
function namesIn(value: unknown): string[] {
  const names = Array.isArray(value) ? value : typeof value === 'string' ? value.split(/,(?![^(]*\))/) : [];
  return names.flatMap((name) => (typeof name === 'string' && name.trim() !== '' ? [name.trim()] : []));
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
