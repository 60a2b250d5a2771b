"""What the checks of pages share: a list of what failed, accessibility, the size of texts."""

import pathlib
import shutil
import subprocess
import sys

from webdriver import find

# The exit status without a browser.
MISSING = 77
# Pixels.
SMALLEST_TEXT = 10

# The size in pixels of the smallest visible text, and the text.
TEXT_SIZES = """
  let smallest = [1e9, ''];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const element = node.parentElement, box = element.getBoundingClientRect();
    if (!node.textContent.trim() || box.width === 0 || element.closest('script, .visually-hidden')) continue;
    const svg = element.ownerSVGElement;
    const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    const size = scale * parseFloat(getComputedStyle(element).fontSize);
    if (size < smallest[0]) smallest = [size, node.textContent.trim().slice(0, 40)];
  }
  return smallest;
"""

AXE = """
  const done = arguments[arguments.length - 1];
  axe.run(document, { resultTypes: ['violations'] }).then(
    (found) => done({ passes: found.passes.length, violations: found.violations.map(
      ({ id, impact, nodes }) => ({ id, impact, target: String(nodes[0].target), count: nodes.length })) }),
    (error) => done({ error: String(error) }));
"""

faults = []


def check(holds, text):
    print(("ok      " if holds else "FAILED  ") + text, flush=True)
    if not holds:
        faults.append(text)


def find_or_skip():
    """The browser and its driver; without them the check ends."""
    browser, driver, missing = find()
    if missing:
        print(f"skipped, not checked: {' and '.join(missing)} not found")
        sys.exit(MISSING)
    return browser, driver


def finish():
    """Prints the summary and exits."""
    print(f"{len(faults)} failed" if faults else "all good")
    sys.exit(1 if faults else 0)


def fetch_axe(folder):
    """The text of axe-core, or None: accessibility is then not checked."""
    if not shutil.which("npm"):
        print("accessibility is not checked: npm is missing")
        return None
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, "axe-core@4"]
    fetched = subprocess.run(command, capture_output=True, text=True, timeout=300)
    script = pathlib.Path(folder, "node_modules", "axe-core", "axe.min.js")
    if not script.exists():
        print(f"accessibility is not checked: {fetched.stderr.strip() or 'npm found nothing'}")
        return None
    return script.read_text()


def check_readable(browser, name):
    """Nothing is cut off at the right edge, and no text is too small."""
    wide, room = browser.run("return [document.documentElement.scrollWidth, innerWidth]")
    check(wide <= room, f"{name}: nothing is cut off ({wide} of {room} pixels)")
    size, text = browser.run(TEXT_SIZES)
    check(size >= SMALLEST_TEXT, f"{name}: the smallest text has {size:.1f} pixels ({text!r})")


def check_accessible(browser, name, axe, minor=()):
    """No rule of axe-core is broken, except those whose impact is in `minor`."""
    browser.run(axe + "; return 0")
    found = browser.run_async(AXE)
    violations = found.get("violations", [found])
    heavy = [violation for violation in violations if violation.get("impact") not in minor]
    check(not heavy, f"{name}: accessible, {found.get('passes')} rules hold {violations or ''}")
