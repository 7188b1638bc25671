/** What is known of the vulnerabilities of the selected image and of the one that waits (`verify.vulnerabilities`). */
import type { Assessment } from '../../core/model/assessment.ts';
import { showHidden } from '../../core/model/hidden-text.ts';
import type { Vulnerability } from '../../core/model/waiting-fix.ts';
import type { PolicyDetail } from '../action-list.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { ago, tagOf } from './inline.ts';
import { sayTo } from './said.ts';
import { factList, table } from './tables.ts';

/** Nothing for a policy whose images are not assessed. Ids and messages come from reports: text of others. */
export function showVulnerabilities({ status }: PolicyDetail, texts: Texts): Html | undefined {
  const { vulnerabilities = [] } = status;
  if (vulnerabilities.length === 0) return undefined;
  return html`<section id="vulnerabilities">${vulnerabilities.map((one) => showAssessment(one, texts))}</section>`;
}

function showAssessment({ tag, digest, at, unknown, by, highest, replaces, unlisted, problems = [] }: Assessment, texts: Texts): Html {
  const own = texts.ofVulnerabilities;
  const said = (text: string) => sayTo(undefined, showHidden(text), texts);
  return html`
    <h2>${own.title} ${tagOf({ tag: showHidden(tag), digest })}${' '}<small class="note">${ago(at)}</small></h2>
    ${factList([
      [own.unknown, unknown !== undefined && said(unknown)],
      [own.highest, unknown === undefined && (highest ?? own.none)],
    ])}
    ${
      unknown === undefined &&
      replaces.length > 0 &&
      table(
        [own.runs, own.fixes, own.adds],
        replaces.map((one) =>
          one.unknown === undefined
            ? [
                html`<code>${showHidden(one.image)}</code>`,
                list(one.fixes, own.none),
                html`${list(one.adds, own.none)}${moreOf(one, texts)}${doubtsOf(one, texts)}`,
              ]
            : [html`<code>${showHidden(one.image)}</code>`, html`<span class="why">${said(one.unknown)}</span>`, '–'],
        ),
      )
    }
    ${unlisted === true && html`<p class="note">${own.unlisted}</p>`} ${by !== undefined && html`<p class="note">${own.by} ${said(by)}</p>`}
    ${
      problems.length > 0 &&
      html`<p class="note">${own.problems}</p>
        <ul class="note">
          ${problems.map((problem) => html`<li>${said(problem)}</li>`)}
        </ul>`
    }
  `;
}

function list(all: readonly Vulnerability[], none: string): Html | string {
  if (all.length === 0) return none;
  return html`${all.map(({ id, severity }, index) => html`${index > 0 && ', '}<code>${showHidden(id)}</code> ${severity}`)}`;
}

function doubtsOf({ mayAdd = [] }: Assessment['replaces'][number], { ofVulnerabilities: own }: Texts): Html | false {
  return mayAdd.length > 0 && html`<br /><span class="why">${own.mayAdd} ${list(mayAdd, own.none)}</span>`;
}

function moreOf({ more }: Assessment['replaces'][number], { ofVulnerabilities: own }: Texts): Html | false {
  return more !== undefined && html`${' '}<span class="why">${own.more(more.count, more.running, more.severity)}</span>`;
}
