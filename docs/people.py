"""Write the page on people from the choices of the 2018 study.

python docs/people.py --data FOLDER [--kept FOLDER]   # fit whoever is not fitted yet, then write people.json, the page
                                                      # and its pictures
python docs/people.py                                 # the page and its pictures from people.json alone

FOLDER holds wu2018_exp1_1d.csv and wu2018_exp2_2d.csv. Who is fitted is kept, and a run that was stopped goes on.
"""

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from explorers import fits  # noqa: E402 - found through the path above
from explorers.pages import write  # noqa: E402 - likewise
from explorers.pictures import pictures  # noqa: E402 - likewise
from explorers.tables import report  # noqa: E402 - likewise

PAGE, DATA = "people.md", "people.json"
MARK = "report"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder of the study's files")
    parser.add_argument("--kept", type=Path, default=Path("results/people"), help="where fits are kept")
    parser.add_argument("--out", type=Path, default=HERE, help="the folder of the page")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", choices=fits.FILES, help="fit one experiment, and write nothing")
    options = parser.parse_args(arguments)
    if options.data is not None:
        names = [options.only] if options.only else fits.FILES
        data = {name: fits.fitted(options.data / fits.FILES[name], options.kept, options.threads) for name in names}
        if options.only:
            return
        (options.out / DATA).write_text(json.dumps(data).replace("], [", "],\n[") + "\n", encoding="utf-8")
    write(options.out, PAGE, MARK, DATA, report, pictures)


if __name__ == "__main__":
    main()
