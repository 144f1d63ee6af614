import { setLanguage } from '../src/protocol/text/l10n.ts';

/** The page contains the translations, so that no English text flashes; none for English. */
const words = document.getElementById('words')?.textContent;
if (words) setLanguage(document.documentElement.lang, JSON.parse(words));
