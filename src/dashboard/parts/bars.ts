import { html, type Html } from '../html.ts';

const height = 60;
const width = 12;

/** A bar for each hour, the oldest first. The tooltip of each has its value and its age in hours. */
export function bars(values: readonly number[], label: string, describe: (value: number, hoursAgo: number) => string): Html {
  const top = Math.max(1, ...values);
  return html`
    <svg class="bars" role="img" aria-label=${`${label}: ${values.join(', ')}`} viewBox=${`0 0 ${values.length * width} ${height}`}>
      ${values.map((value, index) => {
        const tall = value === 0 ? 1 : Math.max(3, (value / top) * height);
        return html`
          <rect x=${index * width} y=${height - tall} width=${width - 2} height=${tall} class=${value === 0 ? 'empty' : undefined}>
            <title>${describe(value, values.length - 1 - index)}</title>
          </rect>
        `;
      })}
    </svg>
  `;
}
