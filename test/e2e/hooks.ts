import { whenToldToEnd } from '../support/editor/ending.ts';
import { pictureOfFailure } from '../support/editor/picture.ts';
import { keepPlaces } from '../support/editor/place.ts';
import { openEditors } from '../support/editor/towpath.ts';

const endPlaces = keepPlaces();

whenToldToEnd(async () => {
  for (const editor of openEditors()) await editor.stop();
  await endPlaces();
  process.exit(1);
});

/** Around every test: a failed one leaves a picture of its editors and what they said; none leaves an editor behind. */
export const mochaHooks = {
  async afterEach(this: Mocha.Context) {
    const test = this.currentTest;
    if (test?.state !== 'failed') return;
    const name = test.fullTitle().replace(/[^\w-]+/g, '-');
    for (const [index, editor] of openEditors().entries()) {
      console.log(`    picture: ${await pictureOfFailure(editor.page, `${name}-${index}`)}`);
      console.log(editor.log().trimEnd().split('\n').slice(-10).join('\n').replace(/^/gm, '    | '));
    }
  },
  /** Of a file: files run side by side. Their places end with the process, as everything does that it started. */
  async afterAll() {
    for (const editor of openEditors()) await editor.stop();
  },
};
