import '../../../webview/plainText.ts';
import { currentLocale, localizedCount, t } from '../../../src/protocol/text/l10n.ts';

document.body.append(`${currentLocale()}: ${t('Deleted {0}.', localizedCount(1234, 'file'))} ${t('<b>Close</b>')}`);
