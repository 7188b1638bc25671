/** The versions of a repository by namespace: how many containers run each, where it is selected, and where containers are behind. */
import type { VersionView } from '../../service/api/image-view.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { ago } from './inline.ts';
import { imagePath, type PlaceQuery } from './place-query.ts';
import { shortDigest } from './places.ts';

const maxNamespaces = 10;

/** A table with a row for each version. `more`: how many older versions are left out. */
export function versionMatrix(versions: readonly VersionView[], more: number, texts: Texts): Html {
  const own = texts.ofImages;
  const [shown, all] = chooseNamespaces(versions);
  return html`
    <p class="note">${own.legend}</p>
    <table class="cards matrix">
      <caption>
        ${own.matrix}
      </caption>
      <thead>
        <tr>
          <th scope="col">${texts.version}</th>
          <th scope="col">${texts.firstSeen}</th>
          <th scope="col">${own.all}</th>
          ${shown.map((namespace) => html`<th scope="col">${namespace}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${versions.map((version) => showRow(version, shown, texts))}
      </tbody>
    </table>
    ${
      more > 0 &&
      html`<p><a href=${`${imagePath({ repository: versions[0]?.repository ?? '' })}&versions=all`}>${own.moreVersions(more)}</a></p>`
    }
    ${all > shown.length && html`<p class="note">${own.moreNamespaces(all - shown.length)}</p>`}
  `;
}

/** The namespaces that have a column, by name: those with the most containers behind, then with the most containers. And how many there are. */
function chooseNamespaces(versions: readonly VersionView[]): readonly [readonly string[], number] {
  const sums = new Map<string, { places: number; behind: number }>();
  for (const { namespace, places, behind } of versions.flatMap(({ namespaces }) => namespaces)) {
    const sum = sums.get(namespace) ?? { places: 0, behind: 0 };
    sums.set(namespace, { places: sum.places + places, behind: sum.behind + behind });
  }
  const ordered = [...sums].sort(([, a], [, b]) => b.behind - a.behind || b.places - a.places);
  return [
    ordered
      .slice(0, maxNamespaces)
      .map(([namespace]) => namespace)
      .sort(),
    sums.size,
  ];
}

function showRow(version: VersionView, namespaces: readonly string[], texts: Texts): Html {
  const { repository, tag, digest, firstSeenAt, places, behind } = version;
  const filters = { repository, tag, ...(tag === undefined && { digest }) };
  return html`
    <tr>
      <th scope="row">
        ${tag !== undefined && html`<code>${tag}</code>${' '}`}${digest !== undefined && html`<code class="short" title=${digest}>${shortDigest(digest)}</code>`}
      </th>
      <td data-label=${texts.firstSeen}>${ago(firstSeenAt)}</td>
      ${showCell(texts.ofImages.all, { places, behind, isWanted: false }, filters, texts)}
      ${namespaces.map((namespace) => {
        const cell = version.namespaces.find((one) => one.namespace === namespace);
        return showCell(namespace, cell, { ...filters, runsIn: namespace }, texts);
      })}
    </tr>
  `;
}

type Cell = Omit<VersionView['namespaces'][number], 'namespace'>;

function showCell(
  label: string,
  cell: Cell | undefined,
  filters: PlaceQuery & { readonly repository: string },
  { ofImages: own }: Texts,
): Html {
  if (cell === undefined || (cell.places === 0 && !cell.isWanted)) return html`<td class="empty"></td>`;
  return html`<td data-label=${label}>
    ${cell.places > 0 ? html`<a href=${imagePath(filters)}>${cell.places}</a>` : '0'}${cell.isWanted && mark('◎', own.isWanted)}${cell.behind > 0 && mark('▲', own.isBehind)}
  </td>`;
}

/** A sign, and its meaning for those who hear the page. */
function mark(sign: string, meaning: string): Html {
  return html` <span class="mark" title=${meaning}><span aria-hidden="true">${sign}</span><span class="spoken">${meaning}</span></span>`;
}
