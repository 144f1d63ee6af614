// `mocha --require test/l10n/foreign.ts …`: everything is as when a foreigner uses it. What models read and what is kept is not.
import { speakMarked } from './marked.ts';

speakMarked();
