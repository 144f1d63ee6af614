import { speak } from '../src/protocol/text/l10n.ts';

/** The page brings the person's words along, so that nothing is drawn in other words first; in English it brings none. */
const words = document.getElementById('words')?.textContent;
if (words) speak(document.documentElement.lang, JSON.parse(words));
