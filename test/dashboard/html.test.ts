/** Templates escape everything that no template has written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { html, type Html, writeDocument } from '../../src/dashboard/html.ts';

const written = (root: Html) => writeDocument(root).slice('<!doctype html>\n'.length, -1);

const hostile = `<script>"&'</script>`;
const escaped = `&lt;script>&quot;&amp;'&lt;/script>`;

test('html escapes texts and attributes wherever they stand', () => {
  assert.equal(written(html`<p title=${hostile}>${hostile}</p>`), `<p title="${escaped}">${escaped}</p>`);
  assert.equal(written(html`${hostile}`), escaped);
  assert.equal(written(html`<b>1</b>${[hostile, [hostile]]}`), `<b>1</b>${escaped}${escaped}`);
  assert.equal(written(html`<p class=${'a'} id="x-${hostile}">text</p>`), `<p class="a" id="x-${escaped}">text</p>`);
});

test('html does not escape the result of another template again', () => {
  const inner = html`<i>${hostile}</i>`;
  assert.equal(written(html`<p>${inner}${[inner]}</p>`), `<p><i>${escaped}</i><i>${escaped}</i></p>`);
  assert.equal(written(html`${inner}`), `<i>${escaped}</i>`);
});

test('html accepts neither an object that resembles a template nor one from JSON', () => {
  const like = { text: hostile, type: 'script', props: { dangerouslySetInnerHTML: { __html: hostile } } };
  assert.equal(written(html`<p>${like}${JSON.parse(JSON.stringify(html`<i>x</i>`))}</p>`), '<p></p>');
  assert.throws(() => html`<p ...${{ 'x onload="1"': '1' }}>x</p>`, TypeError);
  assert.throws(() => html`<${hostile}>x</>`, TypeError);
});

test('html leaves out values without a text, but not zero', () => {
  assert.equal(written(html`<p>${false}${undefined}${null}${true}${''}${0}</p>`), '<p>0</p>');
  const [no, none] = [false, undefined];
  assert.equal(written(html`<p title=${none} hidden=${no} data-again=${no} class=${null}>x</p>`), '<p>x</p>');
  assert.equal(written(html`<input disabled=${true} value="" max=${0} />`), '<input disabled value max="0"/>');
});

test('html writes void elements without an end tag', () => {
  assert.equal(
    written(
      html`<p>a<br />b</p>
        <textarea></textarea>`,
    ),
    '<p>a<br/>b</p><textarea></textarea>',
  );
});
