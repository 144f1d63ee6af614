import '../../../webview/plainText.ts';
import { amount, language, t } from '../../../src/protocol/text/l10n.ts';

document.body.append(`${language()}: ${t('Deleted {0}.', amount(1234, 'file'))} ${t('<b>Close</b>')}`);
