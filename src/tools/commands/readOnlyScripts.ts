/**
 * The small languages of programs that only read: which texts in them do no more. Each is a pattern of what is known to be
 * harmless, not of what is known to harm.
 */

const address = String.raw`(?:\d+|\$|\/(?:[^\/\n\\]|\\[^\n])*\/I?)`;
const part = String.raw`(?:[^\n\\/]|\\[^\n])*`;
const shownOtherwise = ['\\/', '\\|', ',', '#']
  .map((mark) => `s${mark}${part.replace('/', mark)}${mark}${part.replace('/', mark)}${mark}[gIip0-9]*`)
  .join('|');
const sedCommand = String.raw`(?:${address}(?:,(?:${address}|[+~]\d+))?\s*!?)?\s*(?:[pdqQ=]|${shownOtherwise})`;
const sedScript = new RegExp(String.raw`^\s*${sedCommand}(?:\s*;\s*${sedCommand})*\s*;?\s*$`);
/** Lines are printed, left out or shown otherwise: no `w`, `r`, `e`, and none of them as a flag of `s`. */
export const sedReads = (script: string): boolean => sedScript.test(script);

/** jq has no way to write or to start anything; what it could read beside its files are modules and the environment. */
export const jqReads = (filter: string): boolean =>
  !/\b(import|include|env|input_filename|modulemeta|get_search_list)\b|\$ENV|\$__/.test(
    filter.replace(/\.[A-Za-z_]\w*/g, ''),
  );

/** The paths that `test` looks at; undefined for a form that is not known. */
export function testedPaths(words: readonly string[]): string[] | undefined {
  const [first, ...rest] = words;
  if (first === '!' && rest.length > 0) return testedPaths(rest);
  if (words.length === 2 && /^-[nz]$/.test(first!)) return [];
  if (words.length === 2 && /^-[edfsrwxLh]$/.test(first!)) return [rest[0]!];
  if (words.length === 3 && /^(=|==|!=|-eq|-ne|-lt|-le|-gt|-ge)$/.test(rest[0]!)) return [];
  return undefined;
}

/** Functions of SQL that compute from what they are given. */
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
/** What the shells of databases show about tables, in their own short words. */
const shownAbout =
  /^(?:\\(?:d[a-zA-Z]{0,3}[+S]{0,2}|l\+?|conninfo)(?:\s+[\w.*"]+)?|\.(?:tables|schema|indexes|indices|databases|dbinfo|fullschema)(?:\s+[\w%]+)?|show\s+(?:tables|databases|full tables|processlist|(?:columns|index|create table)\s+(?:from\s+)?\w+)|(?:describe|desc)\s+\w+|pragma\s+(?:table_info|table_xinfo|index_list|foreign_key_list)\s*\(\s*\w+\s*\)|pragma\s+(?:table_list|user_version|integrity_check|quick_check|foreign_key_check))\s*;?$/i;

/** One question to a database: `select …`, or what its shell shows about tables. No function is called that is not known. */
export function sqlReads(text: string): boolean {
  const question = text.trim().replace(/;$/, '');
  if (shownAbout.test(question)) return true;
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
