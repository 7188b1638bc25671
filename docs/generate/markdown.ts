/** A table in GitHub's Markdown. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(headings), `|${' --- |'.repeat(headings.length)}`, ...rows.map(line)].join('\n');
}

function line(cells: readonly string[]): string {
  return `| ${cells.map(cell).join(' | ')} |`;
}

/** Text in a monospaced font. */
export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** A block of YAML. */
export function yamlBlock(text: string): string {
  return `\`\`\`yaml\n${text.trimEnd()}\n\`\`\``;
}

// Also inside of code a bar would end the cell.
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
