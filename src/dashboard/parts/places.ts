/** A list of the containers that run an image: what each runs and should run, who is behind, and why. */
import type { z } from 'zod';
import { placeStates, type PlaceState } from '../../service/explain/running-places.ts';
import type { PlaceView } from '../../service/api/image-view.ts';
import type { getImages } from '../../service/api/routes/images.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { ago, policyLink, stateBadge, tagOf } from './inline.ts';
import { commandedFor } from './instruction.ts';
import { imagePath, placesPath, type PlaceQuery } from './place-query.ts';
import { plainTo } from './said.ts';
import { table } from './tables.ts';

type Places = z.output<typeof getImages.answer>;

const toneOf: Readonly<Record<PlaceState, string>> = { Behind: 'wait', Unknown: 'ask', Kept: 'off', Current: 'good' };

/** A page of places with the counts of each state. `path`: the page that shows them. */
export function placeList({ images, counts, isComplete, next }: Places, path: '/image' | '/places', given: PlaceQuery, texts: Texts): Html {
  const { after, ...others } = given;
  const own = texts.ofImages;
  const addressOf = (query: PlaceQuery) => `${placesPath(path, query)}#places`;
  const total = placeStates.reduce(
    (sum, state) => sum + (given.state === undefined || given.state === state ? (counts[state] ?? 0) : 0),
    0,
  );
  const present = placeStates.filter((state) => (counts[state] ?? 0) > 0);
  return html`
    <p role="status" class="found">
      <span>${own.found(total)}</span>
      <a href=${placesPath('/places.csv', others)} download="places.csv">CSV</a>
    </p>
    <ul class="counts" aria-label=${own.byState}>
      ${present.map(
        (state) => html`
          <li>
            <a
              href=${addressOf({ ...others, state: given.state === state ? undefined : state })}
              aria-current=${given.state === state ? 'true' : undefined}
              >${placeBadge(state, texts)} <b>${counts[state]}</b></a
            >
          </li>
        `,
      )}
    </ul>
    ${!isComplete && html`<p class="note">${own.notComplete}</p>`}
    ${images.length > 0 ? placeTable(images, path === '/places', texts) : html`<p class="none">${own.noPlaces}</p>`}
    <p class="pages">
      ${after !== undefined && html`<a href=${addressOf(others)}>${texts.first}</a>`}
      ${next !== undefined && html`<a rel="next" href=${addressOf({ ...others, after: next })}>${texts.next}</a>`}
    </p>
  `;
}

function placeBadge(state: PlaceState, texts: Texts): Html {
  return html`<span class=${`badge ${toneOf[state]}`}>${texts.ofImages.states[state]}</span>`;
}

function placeTable(images: readonly PlaceView[], withRepository: boolean, texts: Texts): Html {
  const own = texts.ofImages;
  return table(
    [texts.workload, own.runs, own.wants, texts.state, own.why, own.runsSince],
    images.map((place) => [
      html`<span class="namespace">${place.namespace}/</span>${place.name} <span class="why">${place.kind}, ${place.container}</span>`,
      html`${withRepository && html`<a class="repository" href=${imagePath({ repository: place.repository })}>${place.repository}</a>`}${showRunning(place, texts)}`,
      tagOf(place.wants),
      html`${placeBadge(place.state, texts)}${place.state === 'Behind' && html` <span class="why">${texts.since} ${ago(place.behindSince)}</span>`}`,
      showWhy(place, texts),
      ago(place.since),
    ]),
    'places',
    own.places,
  );
}

/** The tag, and the digest as far as it is known: short, and whole behind its link. */
function showRunning({ tag, digest, digestFrom = 'Image' }: PlaceView, texts: Texts): Html {
  return html`${tag !== undefined && html`<code>${tag}</code>${' '}`}${
    digest === undefined
      ? tag === undefined && '–'
      : html`<a class="short" href=${placesPath('/places', { digest })} title=${`${digest}: ${texts.ofImages.digestFrom[digestFrom]}`}
          ><code>${shortDigest(digest)}</code></a
        >`
  }`;
}

/** The first digits of a digest, as other tools show them. */
export function shortDigest(digest: string): string {
  return digest.slice(digest.indexOf(':') + 1).slice(0, 12);
}

function showWhy({ policy, reason, message }: PlaceView, texts: Texts): Html {
  const said = message && plainTo(commandedFor(message, policy), texts);
  return html`${policyLink(policy)} ${stateBadge(policy.state, texts)}
  ${(said ?? reason) !== undefined && html`<span class="why" title=${said}>${reason}${said !== undefined && `: ${cut(said)}`}</span>`}`;
}

const maxMessage = 140;

function cut(text: string): string {
  return text.length <= maxMessage ? text : `${text.slice(0, maxMessage - 1).trimEnd()}…`;
}
