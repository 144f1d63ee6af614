import { openTowpath, type Towpath, type TowpathOptions } from './towpath.ts';

/**
 * One window for all tests of a suite, each of which begins in it with a new run and its own settings. After a test that failed the
 * next one has another window. Call it inside of `describe`; it gives what a test begins with.
 */
export function oneWindow(options: TowpathOptions = {}): (settings?: TowpathOptions['settings']) => Promise<Towpath> {
  let editor: Towpath | undefined;
  let isSpoilt = false;
  afterEach(function () {
    isSpoilt ||= this.currentTest?.state === 'failed'; // ended later: its picture is taken after this
  });
  after(() => editor?.stop());
  return async (settings = {}) => {
    if (isSpoilt) await editor?.stop();
    if (editor && !isSpoilt) await editor.begin(settings);
    else editor = await openTowpath({ ...options, settings });
    isSpoilt = false;
    return editor;
  };
}
