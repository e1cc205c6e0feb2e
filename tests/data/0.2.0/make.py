"""Write the files in this folder, with the corrbandits that is installed: see README.md."""

import json
import runpy
import sys
from pathlib import Path

import corrbandits as cb

HERE = Path(__file__).parent
FIRST = runpy.run_path(str(HERE.parent / "0.1.0" / "make.py"))  # the same studies, used in the same way
STUDIES = {
    "correlated": (FIRST["PRIORS"]["correlated"], cb.UCL(a=1.5)),
    "beta": (FIRST["PRIORS"]["beta"], cb.UCL(a=1.5)),
    "refitting": (FIRST["PRIORS"]["refitting"], cb.UCL(a=1.5)),
    "thompson": (FIRST["PRIORS"]["correlated"], cb.Thompson()),
}


def main():
    url, said = HERE / "studies.db", {}
    for number, (name, (prior, policy)) in enumerate(STUDIES.items()):
        study = FIRST["used"](cb.Study.create(url, name, prior=prior, policy=policy, arms=list("abcde"), seed=number))
        if name == "correlated":
            study.add_arms(["f"], coordinates=[[5.0, 5.0]])
            study.export(HERE / "correlated.jsonl")
        said[name] = FIRST["answers"](study)
        copy = study.copy(f"copy of {name}")  # since asking writes
        said[name]["next"] = FIRST["next_arms"](copy)
        copy.delete()
        copy.close()
        study.close()
    lines = (f"{json.dumps(name)}: {json.dumps(text)}" for name, text in said.items())
    (HERE / "said.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    sys.stdout.write(f"corrbandits {cb.__version__}\n")


if __name__ == "__main__":
    main()
