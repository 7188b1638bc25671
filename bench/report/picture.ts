/** The figures of a row as a picture: floor and product as bars, one below the other. Pure. */
import type { Figure } from '../rows/row.ts';

const width = 720;
const labelWidth = 300;
const barHeight = 16;
const figureHeight = 2 * barHeight + 22;
const longest = width - labelWidth - 110;

/** Both schemes of readers: text and bars have enough contrast on white and on black. */
const style = `text { font: 13px system-ui, sans-serif; fill: #1b2229; } .floor { fill: #8b949e; } .product { fill: #1f6feb; }
@media (prefers-color-scheme: dark) { text { fill: #e6eaee; } .product { fill: #58a6ff; } }`;

/** An SVG of the figures that have a floor; undefined if none has. Each has a scale of its own, because their units differ. */
export function pictureOf(title: string, figures: readonly Figure[]): string | undefined {
  const compared = figures.filter((figure): figure is Figure & { floor: number } => figure.floor !== undefined);
  if (compared.length === 0) return undefined;
  const height = compared.length * figureHeight + 8;
  const spoken = compared.map(
    ({ name, floor, product, unit }) => `${name}: floor ${rounded(floor)} ${unit}, product ${rounded(product)} ${unit}`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escape(`${title} ${spoken.join('; ')}`)}</title>`,
    `<style>${style}</style>`,
    ...compared.map((figure, index) => bars(figure, index * figureHeight + 8)),
    '</svg>',
    '',
  ].join('\n');
}

function bars({ name, floor, product, unit }: Figure & { floor: number }, top: number): string {
  const scale = longest / Math.max(floor, product, Number.MIN_VALUE);
  const bar = (kind: 'floor' | 'product', value: number, y: number) => {
    const length = Math.max(1, value * scale);
    const text = `<text x="${(labelWidth + length + 6).toFixed(1)}" y="${y + 13}">${escape(`${rounded(value)} ${unit}`)}</text>`;
    return `<rect class="${kind}" x="${labelWidth}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}"/>${text}`;
  };
  const label = `<text x="${labelWidth - 10}" y="${top + barHeight + 5}" text-anchor="end">${escape(name)}</text>`;
  return `${label}${bar('floor', floor, top)}${bar('product', product, top + barHeight + 2)}`;
}

function rounded(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en');
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
