import { describeError } from '../cli/signals.ts';
import { Interrupted } from './interruption.ts';

const WIDTH = 100;
const PROGRESS_EVERY = 50;
const MIN_REDRAW_MILLISECONDS = 50;

/** What the demo prints: one line with a tick per step, and how many held. */
export class Report {
  passed = 0;
  failed = 0;
  readonly #isTerminal = Boolean(process.stdout.isTTY);
  readonly #hasColour = this.#isTerminal && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  #drawnAt = 0;

  heading(text: string): void {
    console.log(`\n${this.#colour('1', text)}`);
  }

  note(text: string): void {
    for (const line of wrap(text, WIDTH - 4)) console.log(`    ${line}`);
  }

  /**
   * Runs one step and says whether it held. The step returns the sentence to print, since that
   * carries its figures. True when it held; never throws but for an interruption.
   */
  async step(name: string, run: () => Promise<string>): Promise<boolean> {
    try {
      const sentence = await run();
      this.#clearLine();
      this.passed++;
      console.log(`  ${this.#colour('32', '✓')} ${sentence}`);
      return true;
    } catch (error) {
      this.#clearLine();
      if (error instanceof Interrupted) throw error;
      this.failed++;
      console.log(`  ${this.#colour('31', '✗')} ${name}: ${describeError(error)}`);
      return false;
    }
  }

  /** One line that is drawn over on a terminal; elsewhere a line now and then. */
  progress(text: string, done: number, total: number): void {
    const line = `    ${text} ${done} of ${total}`;
    if (!this.#isTerminal) {
      if (done % PROGRESS_EVERY === 0) console.log(line);
      return;
    }
    const now = Date.now();
    if (now - this.#drawnAt < MIN_REDRAW_MILLISECONDS) return;
    this.#drawnAt = now;
    process.stdout.write(`\r\u001b[K${line}`);
  }

  table(rows: readonly (readonly [string, string])[]): void {
    const widest = Math.max(...rows.map(([name]) => name.length));
    for (const [name, value] of rows) console.log(`  ${name.padEnd(widest)}  ${value}`);
  }

  #clearLine(): void {
    if (this.#isTerminal) process.stdout.write('\r\u001b[K');
  }

  #colour(code: string, text: string): string {
    return this.#hasColour ? `\u001b[${code}m${text}\u001b[0m` : text;
  }
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line && line.length + word.length + 1 > width) {
      lines.push(line);
      line = `  ${word}`;
    } else {
      line = line ? `${line} ${word}` : word;
    }
  }
  return [...lines, line];
}
