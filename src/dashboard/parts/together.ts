/** The images that are changed together with the one that a policy selects. */
import type { PolicySummary } from '../../service/api/policy-view.ts';
import { html, type Html } from '../html.ts';

type Shown = Pick<PolicySummary, 'alongside' | 'latest' | 'pendingApproval'>;

/** The images of the set that waits for approval, else the companions of the selected image, else their repositories; undefined without companions. */
export function imagesTogether({ alongside, latest, pendingApproval }: Shown): Html | undefined {
  if (pendingApproval?.images !== undefined) return listOf(pendingApproval.images.map(imageWithDigest));
  if (latest?.companions !== undefined && latest.companions.length > 0) return listOf(companionsOf(latest.companions));
  return alongside === undefined ? undefined : listOf(alongside.map((repository) => html`<code>${repository}</code>`));
}

/** The images of the set that waits for approval; undefined for an image alone. */
export function imagesOfPending({ pendingApproval }: Pick<Shown, 'pendingApproval'>): Html | undefined {
  return imagesTogether(pendingApproval === undefined ? {} : { pendingApproval });
}

function companionsOf(companions: NonNullable<NonNullable<Shown['latest']>['companions']>): Html[] {
  return companions.map(({ image, tag, digest }) => html`<code title=${`${image}:${tag}@${digest}`}>${image}:${tag}</code>`);
}

/** `REPOSITORY@DIGEST`. */
function imageWithDigest(image: string): Html {
  const at = image.lastIndexOf('@');
  if (at === -1) return html`<code>${image}</code>`;
  return html`<code>${image.slice(0, at)}</code>${' '}<small class="digest">${image.slice(at + 1)}</small>`;
}

function listOf(images: readonly Html[]): Html {
  return html`<ul class="plain together">
    ${images.map((image) => html`<li>${image}</li>`)}
  </ul>`;
}
