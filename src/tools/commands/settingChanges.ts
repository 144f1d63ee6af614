import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { unescapeShellWord } from '../shellSyntax/expandWord.ts';
import { commandProgramName, type ShellCommandSegment } from '../shellSyntax/shellWords.ts';

/**
 * Returns the reason to always approve a command by its effect: a change of settings of Git or another program, an extension install, or a
 * scheduled start. Undefined if there is none.
 */
export function settingChangeApprovalReason(parts: readonly ShellCommandSegment[]): LocalizedMessage | undefined {
  for (const { words } of parts) {
    const plain = words.map(unescapeShellWord);
    if (plain.some((word) => /^--((un)?install-extension|add-mcp)(=|$)/.test(word)))
      return message('It changes what the editor runs.');
    if (plain.some((word) => /^(GIT_CONFIG\w*)=/.test(word))) return ofGit;
    const programs = words.map(commandProgramName);
    const at = programs.findIndex((name, index) => !(wrappers.has(name) || /^-|=/.test(plain[index]!)));
    const rest = plain.slice(at + 1);
    const why = at < 0 ? undefined : programs[at] === 'git' ? gitReason(rest) : programReason(programs[at]!, rest);
    if (why) return why;
  }
  return undefined;
}

const wrappers = new Set('sudo doas env command builtin exec nohup time nice xargs busybox'.split(' '));

const ofGit = message('It changes Git settings, which can run programs.');

function gitReason(rest: readonly string[]): LocalizedMessage | undefined {
  const begin = rest.findIndex((word, index) => !word.startsWith('-') && !takesValue.test(rest[index - 1] ?? ''));
  const globals = begin < 0 ? rest : rest.slice(0, begin);
  for (const [index, word] of globals.entries()) {
    if (!/^(-c|--config-env)(=|$)/.test(word)) continue;
    if (!harmless.test(word.includes('=') ? word.replace(/^[^=]*=/, '') : (globals[index + 1] ?? ''))) return ofGit;
  }
  if (rest[begin] !== 'config') return undefined;
  const after = rest.slice(begin + 1);
  if (after.some((word) => /^(--unset|--replace-all|--add|--re(name|move)-section|--edit|-e)/.test(word))) return ofGit;
  if (after.some((word) => /^(--get|--list|-l$)/.test(word))) return undefined;
  const operands = after.filter(
    (word, index) => !word.startsWith('-') && !/^(-f|--file|--blob|--type|-t)$/.test(after[index - 1] ?? ''),
  );
  if (/^(get|list)$/.test(operands[0] ?? '')) return undefined;
  return operands.length > 1 || operands[0] === 'edit' ? ofGit : undefined;
}

const takesValue = /^(-C|-c|--git-dir|--work-tree|--namespace|--config-env)$/;
const harmless =
  /^(user\.(name|email)|color\.[\w.]+|advice\.\w+|column\.\w+|core\.(quotepath|abbrev|autocrlf|safecrlf|ignorecase|precomposeunicode|pager=(cat|less)?$)|init\.defaultbranch|(commit|tag)\.gpgsign=false|log\.\w+|status\.\w+|diff\.(noprefix|mnemonicprefix|algorithm|renames|colormoved|context)|pull\.\w+|push\.default|merge\.conflictstyle|rebase\.\w+|gc\.auto|maintenance\.auto|safe\.barerepository=explicit)/i;

function programReason(program: string, rest: readonly string[]): LocalizedMessage | undefined {
  const [first = '', second = ''] = rest.filter((word) => !word.startsWith('-'));
  if (program === 'crontab' && !(rest.length === 1 && rest[0] === '-l')) return starts;
  if (program === 'at' && /^(-|\d|now|noon|midnight|teatime|tomorrow)/.test(rest[0] ?? '')) return starts;
  if (/^(schtasks|launchctl|update-rc\.d|chkconfig|systemd-run)$/.test(program) && rest.length > 0)
    return /^(\/query|list|print|-l)$/i.test(rest[0]!) ? undefined : starts;
  if (program === 'systemctl' && /^(enable|link|edit|set-default|reenable|preset|import-environment)$/.test(first))
    return starts;
  if (program === 'reg' && /^(add|import|restore|load)$/i.test(first)) return starts;
  const sets = /^(set|unset|edit|delete|rm|add|remove|import)(-\w+)*$/;
  return /^(config|configure|alias|set-config|pkg)$/.test(first) && sets.test(second) && /^[a-z][\w.-]*$/.test(program)
    ? message('It changes settings of a program.')
    : undefined;
}

const starts = message('It schedules something to start later.');
