/** The commits between what runs and what waits, as links to the source, whose host the reader sees. */
import type { ChangesView } from '../../service/api/policy-view.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';

/** Undefined if they are not known. */
export function changesOf(changes: ChangesView | undefined, texts: Texts): Html | undefined {
  if (changes === undefined || changes.links.length === 0) return undefined;
  return html`<span class="note commits"
    >${changes.links.map(
      (link, index) =>
        html`${index > 0 && ' · '}<a href=${link.url} rel="noopener noreferrer external">${texts.originLinks[link.kind](link)}</a>`,
    )}</span
  >`;
}
