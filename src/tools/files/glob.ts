import { quoted, refuse } from '../gate/spelling.ts';
import { ToolError } from '../tool.ts';

/**
 * A test for workspace-relative paths. `*` and `?` stay within a name, `**` crosses folders, `[a-z]` and `{a,b}` as
 * usual; a glob without `/` matches names in every folder. ripgrep's own `--glob` is not used for this, because there a
 * match overrides the ignore files. Refuses globs that point outside the workspace.
 */
export function globTest(glob: string): (path: string) => boolean {
  if (/^([\\/]|[a-z]:)/i.test(glob) || glob.split(/[\\/]/).includes('..'))
    throw refuse('OUTSIDE', `${quoted(glob)} is outside the workspace. Globs are relative to it, like "src/**/*.ts".`);
  if (glob.length > 500 || (glob.match(/\*+/g)?.length ?? 0) > 20)
    throw new ToolError('TOOL_ARGS_INVALID', 'The glob is too long. Use a simpler one.');
  const anchored = glob.replace(/^\.\//, '').replace(/\/$/, '/**');
  const source = translate(anchored);
  const expression = new RegExp(anchored.includes('/') ? `^${source}$` : `(^|/)${source}$`, 'u');
  return (path) => expression.test(path);
}

function translate(glob: string): string {
  let source = '';
  let braces = 0;
  for (let at = 0; at < glob.length; ) {
    const rest = glob.slice(at);
    const stars = /^\*\*+(\/?)/.exec(rest);
    const set = /^\[([!^]?)([^\]/]+)\]/.exec(rest);
    const letter = String.fromCodePoint(rest.codePointAt(0)!);
    if (stars && (at === 0 || glob[at - 1] === '/' || braces > 0)) {
      source += stars[1] ? '(?:[^/]+/)*' : '.*';
      at += stars[0].length;
    } else if (set) {
      source += `[${set[1] ? '^/' : ''}${set[2]!.replace(/[\\[\]^&]/g, '\\$&')}]`;
      at += set[0].length;
    } else {
      if (letter === '{' && rest.includes('}')) {
        source += '(?:';
        braces += 1;
      } else if (letter === '}' && braces > 0) {
        source += ')';
        braces -= 1;
      } else if (letter === ',' && braces > 0) source += '|';
      else if (letter === '*') source += '[^/]*';
      else if (letter === '?') source += '[^/]';
      else source += letter.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
      at += letter.length;
    }
  }
  return source + ')'.repeat(braces);
}
