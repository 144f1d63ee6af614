/**
 * Files that code in another language deletes or writes by literal names, and commands started by the code. `deletesUnnamed`: the code
 * deletes a path without a literal name.
 */
interface CodeEffects {
  deletes: readonly string[];
  writes: readonly string[];
  commands: readonly string[];
  deletesUnnamed: boolean;
}

/** Interpreters that take code as an argument after `inlineCodeOptionPattern`, or from the input. */
export const codeInterpreterPattern =
  /^(python[\d.]*|pypy[\d.]*|node|nodejs|bun|deno|ruby[\d.]*|perl[\d.]*|php[\d.]*)$/;
export const inlineCodeOptionPattern = /^-\w*[cepr]$|^--(eval|print|run)$|^eval$/;

const quotedText = String.raw`[rbu]?(?<quote>['"\x60])(?<text>(?:(?!\k<quote>)[^\\\n])*)\k<quote>`;
const call = (names: string) => String.raw`(?<![\w$])(?:${names})\s*\(?\s*`;

const deletions = call(
  [
    'rmtree|rmSync|unlinkSync|rmdirSync|removeSync|rimraf(?:\\.sync)?|rm_rf?|rm_f|remove_entry|remove_dir|rm_tree|remove_tree',
    '(?:os|shutil|fs|fsp|promises|Deno)\\.(?:rmtree|remove|removedirs|unlink|rmdir|rm|removeSync)',
    '(?:File|Dir|FileUtils)\\.(?:delete|unlink|rm|rmdir|rm_rf?|rm_f|remove_dir)',
    'unlink',
  ].join('|'),
);
const writings = call(
  '(?:os|fs|fsp|File)\\.truncate(?:Sync)?|writeFileSync|writeFile|createWriteStream|truncateSync|writeTextFile(?:Sync)?|File\\.write|file_put_contents|Bun\\.write',
);
const opened = String.raw`(?<![\w$.])(?:io\.)?(?:open|File\.open|fopen)\s*\(\s*${quotedText}\s*,\s*(?:mode\s*=\s*)?['"][rbt]*w`;
const replaced = String.raw`(?<![\w$])(?:os|shutil|fs|fsp|promises|File|FileUtils)\.(?:copy|copy2|copyfile|copyFile|copyFileSync|cp|cpSync|move|mv|rename|renameSync|replace)\s*\(\s*[^,()]{1,200},\s*${quotedText}`;
const ofPath = String.raw`\bPath\(\s*${quotedText}\s*\)\s*\.\s*(?<verb>unlink|rmdir|write_text|write_bytes)`;
const perlOpened = String.raw`\bopen\b[^;\n]{0,60}?,\s*(['"])(?:\+?>)\1\s*,\s*${quotedText}`;
const commands = String.raw`(?<![\w$])(?:system|execSync|exec|popen|Popen|check_call|check_output|shell_exec|passthru|subprocess\.\w+)\s*\(?\s*${quotedText}`;

/** Finds calls that delete or write files in code. Writes to computed names are ignored. */
export function findCodeFileEffects(code: string): CodeEffects {
  const matches = (pattern: string) => [...code.matchAll(new RegExp(pattern, 'g'))];
  const texts = (pattern: string) => matches(pattern).map(({ groups }) => groups!.text!);
  /** The literal is the whole argument, without concatenation or interpolation. */
  const whole = (pattern: string) => `${pattern}${quotedText}(?=\\s*(?:[,);}]|$))`;
  const named = matches(whole(deletions)).filter(({ groups }) => !/[{$#]/.test(groups!.text!));
  const paths = matches(ofPath);
  const verbs = (test: RegExp) =>
    paths.filter(({ groups }) => test.test(groups!.verb!)).map(({ groups }) => groups!.text!);
  return {
    deletes: [...named.map(({ groups }) => groups!.text!), ...verbs(/^(unlink|rmdir)$/)],
    writes: [...texts(whole(writings)), ...texts(opened), ...texts(perlOpened), ...texts(replaced), ...verbs(/^write/)],
    commands: texts(commands),
    deletesUnnamed: matches(`${deletions}(?=[\\w'"\x60$@[])`).length > named.length,
  };
}
