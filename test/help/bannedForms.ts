/** A form that text for users must not contain, and the form to use instead. */
export interface BannedForm {
  form: RegExp;
  instead: string;
}

/** Banned forms of user-visible English. Code spans and fences are not text. */
export const bannedForms: readonly BannedForm[] = [
  { form: /(?<!\/)\bgates?\b(?!\/)/i, instead: 'approval' },
  { form: /\bverdicts?\b/i, instead: 'decision' },
  { form: /\bgrant(?:s|ed|ing)?\b/i, instead: 'permission, allow' },
  { form: /\bprotected (?:paths?|places?)\b/i, instead: 'protected file' },
  { form: /\b(?:the|a|this) person\b|\bperson’?'?s\b|\bpeople\b|\bsomebody\b/i, instead: 'you, the user' },
  { form: /\b(?:is|are|be|was|were|being) told\b|\btells? (?:the|a|you)\b/i, instead: 'is informed, reports' },
  { form: /\bhe(?:ars?|ard)\b|\bheeds?\b/i, instead: 'receives' },
  { form: /\bmend(?:s|ed|ing)?\b/i, instead: 'fix' },
  { form: /\blent\b|\baside\b/i, instead: 'provided by the editor; in the background' },
  { form: /\b(?:is|are|be) (?:gone|over)\b|\bgone\b/i, instead: 'removed, ended' },
  { form: /\bat work\b|\bbegun\b|\bgoes on\b|\bgo on\b|\bgone on\b/i, instead: 'running, started, continues' },
  { form: /\b(?:your|a) (?:yes|no)\b(?! \w)/i, instead: 'approval, denial' },
  { form: /\basked about\b/i, instead: 'asks, needs approval' },
  { form: /^Say\b|\bSay [A-Z]/, instead: 'Send, Enter' },
  { form: /\byour words\b|\bits words\b|\bother words\b/i, instead: 'your messages, its text' },
  { form: /\btake back\b|\btaken back\b|\btakes back\b/i, instead: 'undo' },
  { form: /\broom (?:is|was|for)\b/i, instead: 'space, compaction' },
  { form: /(?:\b(?:wrong|two|more|which|that)|\{0\}) places?\b/i, instead: 'location, position, path' },
  { form: /\bwhoever\b|\bwho else\b/i, instead: 'a noun' },
  { form: /\bin the same breath\b|\ba slip of the pen\b|\bas ever\b/i, instead: 'plain terms' },
  { form: /(?:\d|\}) %(?!\})/, instead: '43%, without a blank' },
  {
    form: /\b(?:catalogue|colour|behaviour|favour|licence|centre|grey|cancell(?:ed|ing)|\w+(?:ll?ogue[sd]))\w*|\b(?:summar|recogn|organ|initial|custom|normal|quant|serial|priorit|optim|final|util)is(?:e[ds]?|ing|ation)\b|\banalys(?:e[ds]?|ing)\b/i,
    instead: 'American spelling: color, canceled, summarize',
  },
];

/** Returns the banned forms in a text as `form → use: …`. */
export function bannedIn(text: string, forms: readonly BannedForm[] = bannedForms): string[] {
  return forms.flatMap(({ form, instead }) => {
    const found = form.exec(text);
    return found ? [`“${found[0]}” → ${instead}`] : [];
  });
}

/** Removes what is not text of a Markdown page: fences, code spans, addresses of links and generated tables. */
export const proseOf = (markdown: string): string =>
  markdown
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/<!-- (\w+) -->\n[\s\S]*?<!-- \/\1 -->/g, '')
    .replaceAll(/`[^`\n]*`/g, '`')
    .replaceAll(/\]\([^)]*\)/g, ']');
