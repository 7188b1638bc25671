/** Each sentence that a page can show has a translation, so that a page in Chinese is in Chinese. What registries, pods and Kubernetes report stays as it is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logMessages } from '../../src/service/telemetry/log-messages.ts';
import { messagesZh } from '../../src/dashboard/texts/messages-zh/index.ts';
import { sentenceInChinese } from '../../src/dashboard/texts/sentences-zh.ts';
import { files, read } from '../structure/sources.ts';
import { filesNotOnPages, sentencesNotOnPages } from './not-on-pages.ts';
import { literalsOf, sentences } from './said-sentences.ts';

const leftOut = Object.values(filesNotOnPages)
  .flat()
  .map((path) => `src/${path}`);
const said = sentences((file) => !leftOut.some((path) => file.startsWith(path)));
const alone = new Set(Object.values(sentencesNotOnPages).flat());

test('every sentence of the sources that a page can show has a translation in src/dashboard/texts/messages-zh', () => {
  const known = new Set(Object.keys(messagesZh).map((sentence) => sentence.trim()));
  const missing = said.filter(({ text }) => !known.has(text.trim()) && !Object.hasOwn(logMessages, text) && !alone.has(text));
  assert.ok(said.length > 1_000);
  assert.deepEqual(missing, []);
});

/** What is composed of several sentences, or is left of one where a page has a button for the rest (`parts/instruction.ts`). */
const composed = new Set([
  '{0} waits for approval: approve it with image-watcher approve {1}/{2}, or with the annotation {3}: {4}',
  '{0} waits for approval; "{1}" {2}',
  '{0} is held: {1}. It is changed again when there is something newer than {2}, or when it is released',
  '{0} is held: {1}. It is changed again when there is something newer than {2}, or when it is released with {3}',
  '{0} is not applied, because the policy is on hold ({1}). It is applied when it is promoted, or when the hold is released',
  '{0} is not applied, because the policy is on hold ({1}). It is applied when it is promoted, or when the hold is released with {2}',
  '{0}, or release it',
  '{0}, or release it with {1}',
  '{0} was rolled back on {1}. Push something newer',
  'release it',
  'release it with {0}',
  '{0} has put {1} back {2} times after it was changed to {3}: write the image where {4} reads it, let it ignore the field, or try once more',
  '{0}: {1}. The policy selects {2}: set select.semver.range, or, if {3} is right, release it',
  'the approval of {0}: approve it with image-watcher approve {1}',
  'the approval of {0}',
  'approvals of {0}: {1}',
  'push a newer one, or release it',
  'push a newer one, or release it with {0}',
  'no image is known to be behind {0} (of {1})',
  'no image is behind {0} (of {1})',
  ', without a digest',
  ', with whose layers its own cannot be compared',
  'expired on {0}',
  'Secret {0}/{1} has no key {2}',
  'Secret {0}/{1} has nothing under the key {2}',
  'the Secret {0} has no key {1}',
  'the Secret {0} has nothing under the key {1}',
  'key {0} of key {1} of Secret {2}/{3}',
  'subkey {0}',
  '{0} is revoked',
  '{0} has expired on {1}',
  '{0} was created in the future, on {1}',
  '{0} has no valid signature of its owner that says what it may be used for',
  'the check {0} passed: {1}',
  'the check {0} failed: {1}',
  'waits for {0}',
  '{0} waits until {1}, {2}',
  'the check {0} passed',
  'the check {0} failed',
  'the check {0} gave no verdict in time: {1}',
  'the check {0} has no verdict yet: {1}',
  'is not valid before {0}',
  '{0} is no Helm chart: {1}',
  '{0} is no artifact of its own: {1}',
  'ImagePolicy {0} has the same target and demands signatures: {1}',
  'write {0}: an image name is in lower case and has no scheme',
  'no image waits for approval',
  'no base waits for approval',
  'a push of {0} would change {1}',
  'a push of {0} would change nothing until its digest has been known for {1} (minAge)',
  'a push of {0} would change nothing before {1}, which is pending until {2} (minAge)',
  '{0} is selected: {1}',
  '{0} is taken as pushed: {1}',
]);

test('every translated sentence is still in the sources', () => {
  const own = new Set(
    files
      .filter((file) => !file.startsWith('src/dashboard/texts/'))
      .flatMap((file) => literalsOf(read(file)))
      .map((text) => text.trim()),
  );
  const stale = Object.keys(messagesZh).filter((sentence) => !own.has(sentence.trim()) && !composed.has(sentence));
  assert.deepEqual(stale, []);
});

test('every sentence and file that is excluded from translation exists', () => {
  const texts = new Set(files.flatMap((file) => literalsOf(read(file))));
  assert.deepEqual(
    [...alone].filter((text) => !texts.has(text)),
    [],
  );
  assert.deepEqual(
    leftOut.filter((path) => !files.some((file) => file.startsWith(path))),
    [],
  );
});

test('each translation has only placeholders of its sentence, and is found for the sentence', () => {
  for (const [sentence, chinese] of Object.entries(messagesZh)) {
    const places = new Set(sentence.match(/\{\d\}/g));
    for (const place of chinese.match(/\{\d\}/g) ?? []) assert.ok(places.has(place), sentence);
    // Places that follow each other are one.
    const filled = (text: string) => text.replaceAll(/\{(\d)\}/g, 'Part$1');
    assert.equal(sentenceInChinese(filled(sentence.replaceAll(/(\{\d\})(?:\{\d\})+/g, '$1'))), filled(chinese), sentence);
  }
});

/** Places with a word that Chinese does not have: `is` or `are`, `target` or `targets`. */
const wordsOfNumber = [
  ' (and {0} more {1})',
  '{0} is out on {1} more {2}',
  '{0} {1} built on a version of another line, which spec.from may name',
  'is too {0}: at most {1} {2}',
];

test('no translation leaves out a placeholder of its sentence', () => {
  const lost = Object.entries(messagesZh).filter(([sentence, chinese]) =>
    [...sentence.matchAll(/(?<!\})\{(\d)\}/g)].some(([place]) => !chinese.includes(place)),
  );
  assert.deepEqual(lost.map(([sentence]) => sentence).sort(), wordsOfNumber.toSorted());
});

test('no translation is English', () => {
  const english = Object.entries(messagesZh).filter(
    ([sentence, chinese]) => / [a-z]{2,} [a-z]{2,}/.test(sentence) && !/[\u4e00-\u9fff]/.test(chinese),
  );
  assert.deepEqual(english, []);
});
