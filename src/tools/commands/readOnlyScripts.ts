/** Patterns of harmless scripts for read-only programs. Allow lists, not deny lists. */

const address = String.raw`(?:\d+|\$|\/(?:[^\/\n\\]|\\[^\n])*\/I?)`;
const part = String.raw`(?:[^\n\\/]|\\[^\n])*`;
const shownOtherwise = ['\\/', '\\|', ',', '#']
  .map((mark) => `s${mark}${part.replace('/', mark)}${mark}${part.replace('/', mark)}${mark}[gIip0-9]*`)
  .join('|');
const sedCommand = String.raw`(?:${address}(?:,(?:${address}|[+~]\d+))?\s*!?)?\s*(?:[pdqQ=]|${shownOtherwise})`;
const sedScript = new RegExp(String.raw`^\s*${sedCommand}(?:\s*;\s*${sedCommand})*\s*;?\s*$`);
/** Tests for a sed script that prints, omits or changes lines: no `w`, `r`, `e` as commands or flags of `s`. */
export const isReadOnlySedScript = (script: string): boolean => sedScript.test(script);

/** Tests for a jq filter without modules and environment; jq cannot write or start programs. */
export const isReadOnlyJqFilter = (filter: string): boolean =>
  !/\b(import|include|env|input_filename|modulemeta|get_search_list)\b|\$ENV|\$__/.test(
    filter.replace(/\.[A-Za-z_]\w*/g, ''),
  );

export function pathsInShellTestExpression(words: readonly string[]): string[] | undefined {
  const [first, ...rest] = words;
  if (first === '!' && rest.length > 0) return pathsInShellTestExpression(rest);
  if (words.length === 2 && /^-[nz]$/.test(first!)) return [];
  if (words.length === 2 && /^-[edfsrwxLh]$/.test(first!)) return [rest[0]!];
  if (words.length === 3 && /^(=|==|!=|-eq|-ne|-lt|-le|-gt|-ge)$/.test(rest[0]!)) return [];
  return undefined;
}

const sqlFunctions = new Set(
  (
    'count sum avg min max coalesce nullif lower upper length char_length trim ltrim rtrim round floor ceil ceiling abs now date datetime time strftime ' +
    'date_trunc extract age to_char cast concat substr substring replace string_agg array_agg group_concat json_agg jsonb_agg json_object ' +
    'json_extract row_number rank dense_rank lag lead over in values exists and or not any all distinct filter on using as when then else from ' +
    'where select left right greatest least current_database current_schema version typeof ifnull iif instr total pg_size_pretty ' +
    'pg_total_relation_size pg_relation_size pg_table_size pg_database_size between like ilike is partition by order having limit union except intersect join'
  ).split(' '),
);
const sqlWord = /'(?:[^'\\]|'')*'|"[^"\\]*"|[a-z_]\w*|\d+(?:\.\d+)?|::|<>|!=|<=|>=|\|\||->>?|[-+*/%=<>(),.[\]]|\s+/giy;
const sqlChanges =
  /^(into|insert|update|delete|drop|alter|create|attach|detach|copy|call|do|lock|grant|revoke|set|reset|execute|prepare|vacuum|reindex|merge|truncate|replace|load|handler|returning|for|outfile|dumpfile|procedure|listen|notify|begin|commit|rollback|analyze)$/i;
const testOptions =
  /^(?:\\(?:d[a-zA-Z]{0,3}[+S]{0,2}|l\+?|conninfo)(?:\s+[\w.*"]+)?|\.(?:tables|schema|indexes|indices|databases|dbinfo|fullschema)(?:\s+[\w%]+)?|show\s+(?:tables|databases|full tables|processlist|(?:columns|index|create table)\s+(?:from\s+)?\w+)|(?:describe|desc)\s+\w+|pragma\s+(?:table_info|table_xinfo|index_list|foreign_key_list)\s*\(\s*\w+\s*\)|pragma\s+(?:table_list|user_version|integrity_check|quick_check|foreign_key_check))\s*;?$/i;

/** Tests for one SQL query: `select …` with known functions, or a meta command about tables. */
export function isReadOnlySqlQuery(text: string): boolean {
  const question = text.trim().replace(/;$/, '');
  if (testOptions.test(question)) return true;
  if (!/^(?:explain\s+(?:query\s+plan\s+)?)?select\b/i.test(question)) return false;
  const words: string[] = [];
  for (sqlWord.lastIndex = 0; sqlWord.lastIndex < question.length; ) {
    const word = sqlWord.exec(question)?.[0];
    if (word === undefined) return false;
    if (word.trim() !== '') words.push(word);
  }
  return words.every((word, at) => {
    const isName = /^["a-z_]/i.test(word);
    if (sqlChanges.test(word)) return word.toLowerCase() === 'replace' && words[at + 1] === '(';
    return !isName || words[at + 1] !== '(' || sqlFunctions.has(word.toLowerCase());
  });
}
